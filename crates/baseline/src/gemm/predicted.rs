//! A library's product on the emulated device: computed by the course's own kernel, timed as the library's would be.
//!
//! The course's kernel uses no tensor cores, and its instructions say nothing about a library's time. What a large product
//! takes is known better than that: the longer of what its bytes take and what its arithmetic takes on tensor cores.

#![allow(unsafe_code)] // The addresses of what is multiplied.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Gemm, GemmSizes};
use fusion_machine::{Profile, Report};

use super::tiled::{KERNEL, TiledGemm};

/// The share of the tensor cores' peak that a library reaches. Assumed: libraries reach 60 to 80% of it with large f16
/// matrices, and less with small ones.
pub(super) const SHARE: f64 = 0.7;

/// Bytes of an element: f16.
const ELEMENT: f64 = 2.0;

/// The course's kernel, and what it was asked to multiply since it was last asked about.
#[derive(Debug)]
pub(super) struct StandIn {
    tiled: TiledGemm,
    queued: Mutex<Vec<GemmSizes>>,
}

impl StandIn {
    pub(super) fn new(tiled: TiledGemm) -> Self {
        Self { tiled, queued: Mutex::new(Vec::new()) }
    }

    pub(super) fn tiled(&self) -> &TiledGemm {
        &self.tiled
    }

    pub(super) fn predict(&self, report: &mut Report) {
        let queued = std::mem::take(&mut *self.queued.lock().unwrap_or_else(PoisonError::into_inner));
        predict(report, &queued);
    }
}

impl Gemm for StandIn {
    unsafe fn queue(&self, stream: &Arc<CudaStream>, addresses: [u64; 3], sizes: GemmSizes) -> Result<(), DriverError> {
        // SAFETY: what the caller promises is what is asked for.
        unsafe { self.tiled.queue(stream, addresses, sizes) }?;
        if sizes.m * sizes.n > 0 {
            self.queued.lock().unwrap_or_else(PoisonError::into_inner).push(sizes);
        }
        Ok(())
    }
}

/// Replaces the times of the products among the report's launches. Where there are other launches of that name, they are
/// not to be told apart, and every launch keeps the time of its instructions.
fn predict(report: &mut Report, queued: &[GemmSizes]) {
    let Some(profile) = fusion_profile::of_device(&report.device) else { return };
    let launches = report.launches.iter().enumerate();
    let products: Vec<_> = launches.filter(|(_, launch)| launch.kernel == KERNEL).map(|(index, _)| index).collect();
    if products.len() == queued.len() {
        for (launch, sizes) in products.into_iter().zip(queued) {
            report.retime(launch, library_ns(&profile, *sizes));
        }
    }
}

/// Nanoseconds that a library's product is predicted to take, its launch included.
fn library_ns(profile: &Profile, GemmSizes { m, n, k }: GemmSizes) -> f64 {
    let [m, n, k] = [m, n, k].map(|size| size as f64);
    let memory = ELEMENT * (m * k + k * n + m * n) / profile.dram_bandwidth;
    let arithmetic = 2.0 * m * n * k / (SHARE * profile.tensor_flops);
    profile.launch_overhead_ns + profile.dram_latency_ns + 1e9 * memory.max(arithmetic)
}

#[cfg(test)]
mod tests {
    use assert_approx_eq::assert_approx_eq;

    use super::*;
    use fusion_machine::LaunchReport;

    fn square(n: usize) -> GemmSizes {
        GemmSizes { m: n, n, k: n }
    }

    #[test]
    fn large_products_are_bound_by_arithmetic_and_small_ones_by_their_launch() {
        let h200 = Profile::default();
        // 2 * 4096^3 operations at 0.7 * 989e12 a second.
        let large = library_ns(&h200, square(4096)) - h200.launch_overhead_ns - h200.dram_latency_ns;
        assert_approx_eq!(large, 198_527.0, 1000.0);
        assert!(library_ns(&h200, square(32)) < 1.5 * h200.launch_overhead_ns);
        // One row: W is read for it, and that is all.
        let row = library_ns(&h200, GemmSizes { m: 1, n: 8192, k: 8192 });
        assert!(row > 1e9 * 2.0 * 8192.0 * 8192.0 / h200.dram_bandwidth);
    }

    #[test]
    fn only_the_products_get_another_time() {
        let launch = |kernel: &str| LaunchReport { kernel: kernel.to_owned(), predicted_ns: 1.0, ..Default::default() };
        let report = |kernels: &[&str]| Report {
            device: Profile::default().name.to_owned(),
            launches: kernels.iter().map(|kernel| launch(kernel)).collect(),
            ..Report::default()
        };
        let times = |mut report: Report, queued: &[GemmSizes]| {
            predict(&mut report, queued);
            report.launches.iter().map(|launch| launch.predicted_ns > 1.0).collect::<Vec<_>>()
        };
        assert_eq!(times(report(&["a", KERNEL, "b"]), &[square(8)]), [false, true, false]);
        // Somebody's own kernel of that name is not timed as a library's.
        assert_eq!(times(report(&["a", KERNEL]), &[]), [false, false]);
        assert_eq!(times(report(&[KERNEL, KERNEL]), &[square(8)]), [false, false]);
    }
}
