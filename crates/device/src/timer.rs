use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaEvent, CudaStream, DriverError};

/// Times work on a stream with a pair of events. cudarc's own default disables timing in events; these have it.
///
/// On the emulated device the time is the machine's model's, not a measurement.
#[derive(Debug)]
pub struct Timer {
    stream: Arc<CudaStream>,
    start: CudaEvent,
    end: CudaEvent,
}

impl Timer {
    /// # Errors
    /// The driver's, for example after a fault in an earlier kernel.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Timer, DriverError> {
        let event = || stream.context().new_event(Some(CU_EVENT_DEFAULT));
        Ok(Timer { start: event()?, end: event()?, stream: stream.clone() })
    }

    /// # Errors
    /// The driver's.
    pub fn start(&self) -> Result<(), DriverError> {
        self.start.record(&self.stream)
    }

    /// # Errors
    /// The driver's.
    pub fn stop(&self) -> Result<(), DriverError> {
        self.end.record(&self.stream)
    }

    /// Whether the device has come to the last start.
    pub fn has_started(&self) -> bool {
        self.start.is_complete()
    }

    /// Milliseconds between the last start and the last stop; waits for the latter.
    ///
    /// # Errors
    /// The driver's: errors of the kernels between the two surface here.
    pub fn elapsed_ms(&self) -> Result<f32, DriverError> {
        self.start.elapsed_ms(&self.end)
    }
}
