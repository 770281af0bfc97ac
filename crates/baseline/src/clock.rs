//! Times work on the device, each time with a cold L2 cache.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, DriverError};
use fusion_device::{Device, Emulator, Timer};

use crate::{Flush, Hold};

/// Repetitions on a real GPU; the emulated device gives the same answer every time.
const REPEAT: usize = 15;

/// Flushes after which nothing is left of what the host has copied to the device. An H200 keeps some of it in its L2
/// through a flush, as long as each kernel reads it again; a kernel's own data it does not keep.
const FLUSHES: usize = 40;

/// Bytes of a copy that tells what a device reaches, on a GPU and on the emulated device.
const COPY: [usize; 2] = [1 << 30, 64 << 20];

/// Events around work on one stream.
///
/// On a GPU they measure. On the emulated device they carry the model's times, and what shows them must say that they are
/// predicted.
#[derive(Debug)]
pub struct Clock {
    stream: Arc<CudaStream>,
    /// Of the emulated device.
    emulator: Option<Emulator>,
    /// The emulated device has a call that empties its cache, and its clock stands still while the host queues.
    timing: Option<(Flush, Hold)>,
}

impl Clock {
    /// `module` is made of [`crate::timing`]; without one no GPU's cache is flushed and nothing held back, which is enough on the
    /// emulated device.
    ///
    /// # Errors
    /// The driver's, when there is no memory for what empties the cache.
    pub fn new(device: &Device, module: Option<&Arc<CudaModule>>) -> Result<Self, DriverError> {
        let stream = device.stream.clone();
        let made = |module| Ok((Flush::new(&stream, module, device.properties.l2_bytes)?, Hold::new(module)?));
        let timing = module.map(made).transpose()?;
        Ok(Self { stream, emulator: device.emulator().cloned(), timing })
    }

    /// Queues work between a timer's events, after the L2 was emptied.
    ///
    /// # Errors
    /// Those of the work, and what `failed` makes of an error of the driver's.
    pub fn cold<E>(
        &mut self,
        timer: &Timer,
        failed: impl Fn(DriverError) -> E,
        work: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        match (&self.emulator, &mut self.timing) {
            (Some(emulator), _) => emulator.empty_cache(),
            (None, Some((flush, _))) => flush.run(&self.stream).map_err(&failed)?,
            (None, None) => {}
        }
        timer.start().map_err(&failed)?;
        work()?;
        timer.stop().map_err(&failed)
    }

    /// The median time of `work` in nanoseconds.
    ///
    /// # Errors
    /// The driver's, of `work` or of the events around it.
    pub fn median(&mut self, work: impl FnMut() -> Result<(), DriverError>) -> Result<f64, DriverError> {
        let times = self.times(false, work)?;
        Ok(times[times.len() / 2])
    }

    /// The times of `work` in nanoseconds, in ascending order: there is at least one. Each finds a cold cache, or what it left there
    /// itself just before.
    ///
    /// # Errors
    /// The driver's, of `work` or of the events around it.
    pub fn times(
        &mut self,
        warm: bool,
        mut work: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<Vec<f64>, DriverError> {
        let repeat = if self.emulator.is_some() { 1 } else { REPEAT };
        let timer = Timer::new(&self.stream)?;
        if self.emulator.is_none() {
            work()?;
            self.forget_copies()?;
        }
        let mut times = Vec::with_capacity(repeat);
        self.shorten();
        while times.len() < repeat {
            self.hold()?;
            match warm {
                true => self.warm(&timer, &mut work)?,
                false => self.cold(&timer, |error| error, &mut work)?,
            }
            // Had the device begun before all was queued, it might have waited for the host between two launches.
            if self.emulator.is_some() || !timer.has_started() || !self.lengthen() {
                times.push(f64::from(timer.elapsed_ms()?) * 1e6);
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }

    /// Empties the L2 of what the host has copied to the device before.
    ///
    /// # Errors
    /// The driver's.
    pub fn forget_copies(&mut self) -> Result<(), DriverError> {
        match &mut self.timing {
            Some((flush, _)) if self.emulator.is_none() => (0..FLUSHES).try_for_each(|_| flush.run(&self.stream)),
            _ => Ok(()),
        }
    }

    /// Queues work twice, the second time between a timer's events.
    fn warm(&mut self, timer: &Timer, mut work: impl FnMut() -> Result<(), DriverError>) -> Result<(), DriverError> {
        if let Some((flush, _)) = &mut self.timing {
            flush.run(&self.stream)?;
        }
        work()?;
        timer.start()?;
        work()?;
        timer.stop()
    }

    /// What a device-to-device copy reaches, in bytes read and written a second.
    ///
    /// # Errors
    /// The driver's, when there is no memory for the copy.
    pub fn ceiling(&mut self) -> Result<f64, DriverError> {
        self.copy(COPY[usize::from(self.emulator.is_some())])
    }

    /// The same for a copy of so many bytes.
    ///
    /// # Errors
    /// The driver's, when there is no memory for the copy.
    pub fn copy(&mut self, bytes: usize) -> Result<f64, DriverError> {
        let stream = self.stream.clone();
        let from = stream.alloc_zeros::<u8>(bytes)?;
        let mut to = stream.alloc_zeros::<u8>(bytes)?;
        let ns = self.median(|| stream.memcpy_dtod(&from, &mut to))?;
        Ok(2.0 * bytes as f64 / (ns * 1e-9))
    }

    /// Queues a wait, so that a GPU does not begin before all that is to be timed is queued.
    ///
    /// # Errors
    /// The driver's.
    pub fn hold(&self) -> Result<(), DriverError> {
        match &self.timing {
            Some((_, hold)) if self.emulator.is_none() => hold.run(&self.stream),
            _ => Ok(()),
        }
    }

    /// Makes the next wait as short as the first was.
    pub fn shorten(&mut self) {
        if let Some((_, hold)) = &mut self.timing {
            hold.shorten();
        }
    }

    /// Makes the next wait twice as long; false where there is none, or it is as long as it may be.
    pub fn lengthen(&mut self) -> bool {
        self.timing.as_mut().is_some_and(|(_, hold)| self.emulator.is_none() && hold.lengthen())
    }
}
