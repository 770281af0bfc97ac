//! What this device reaches when a kernel does nothing but move bytes.

use cudarc::driver::CudaSlice;
use fusion_course::{Exercise, Shape};
use fusion_device::Timer;

use super::helpers::{Helpers, Movers};
use crate::session::Session;
use crate::trouble::Trouble;

/// Runs of each kernel.
const RUNS: usize = 15;

/// Vectors read and written whose ratio is nearest to that of the exercise's inputs and outputs, as small as can be.
pub(super) fn mix(exercise: &Exercise, shape: Shape) -> (usize, usize) {
    nearest(exercise.read_bytes(shape) as f64, exercise.written_bytes(shape) as f64)
}

fn nearest(read: f64, written: f64) -> (usize, usize) {
    let wanted = (read.max(1.0) / written.max(1.0)).ln();
    let distance = |&(r, w): &(usize, usize)| ((r as f64 / w as f64).ln() - wanted).abs() + 1e-6 * (r + w) as f64;
    let candidates = (1..=8).flat_map(|r| (1..=8).map(move |w| (r, w)));
    candidates.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or((1, 1))
}

/// The highest speed, in GB/s, of cold kernels that move about so many bytes in the helpers' mix of reads and writes,
/// and of the driver's own copy.
pub(super) fn measure(session: &Session, helpers: &mut Helpers<'_>, bytes: u64) -> Result<f64, Trouble> {
    let ours = || Trouble::driver("measuring the ceiling");
    let stream = &session.device.stream;
    let Movers { reads, writes, .. } = helpers.movers;
    let groups = (bytes as usize / (16 * (reads + writes))).max(1);
    let (read, written) = (16 * groups * reads, 16 * groups * writes);
    let from: CudaSlice<u8> = stream.alloc_zeros(read).map_err(ours())?;
    let mut to: CudaSlice<u8> = stream.alloc_zeros(written).map_err(ours())?;
    let timers = (0..RUNS).map(|_| Timer::new(stream)).collect::<Result<Vec<_>, _>>().map_err(ours())?;
    let mut best = 0.0_f64;

    for mover in 0..helpers.movers.len() {
        for timer in &timers {
            let Helpers { clock, movers, .. } = &mut *helpers;
            clock.cold(timer, |error| error, || movers.run(mover, &from, &mut to, groups)).map_err(ours())?;
        }
        best = best.max(speed(session, &timers, read + written)?);
    }

    // A copy of much fewer bytes says nothing about this size.
    let half = read.min(written);
    if 4 * half >= read + written {
        best = best.max(copy(helpers, half as u64)?);
    }
    Ok(best)
}

/// The speed, in GB/s, of the driver's own cold copy of so many bytes, each of which is read and written.
pub(super) fn copy(helpers: &mut Helpers<'_>, bytes: u64) -> Result<f64, Trouble> {
    let speed = helpers.clock.copy(bytes as usize).map_err(Trouble::driver("measuring the ceiling"))?;
    Ok(speed / 1e9)
}

/// Bytes over the median time, in GB/s; the first run warms up.
fn speed(session: &Session, timers: &[Timer], bytes: usize) -> Result<f64, Trouble> {
    let ours = || Trouble::driver("measuring the ceiling");
    session.device.context.synchronize().map_err(ours())?;
    let times = timers.iter().skip(1).map(|timer| Ok(f64::from(timer.elapsed_ms()?))).collect::<Result<Vec<_>, _>>();
    let median = fusion_baseline::statistics::median(&times.map_err(ours())?).unwrap_or(0.0);
    Ok(if median > 0.0 { bytes as f64 / median / 1e6 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn mixes_of_the_exercises() {
        for (read, written, mix) in
            [(8.0, 4.0, (2, 1)), (12.0, 4.0, (3, 1)), (4.0, 1.0, (4, 1)), (4.0, 4.0, (1, 1)), (100.0, 1.0, (8, 1))]
        {
            assert_eq!(nearest(read, written), mix);
        }
    }
}
