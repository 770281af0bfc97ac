//! Device-side copies, ordered on one stream.
//!
//! Nothing that is timed may wait for the host between preparing a launch and the launch itself, so buffers are filled
//! from the device. cudarc's own copies want slices, which a [`DeviceBuffer`] does not show.

#![allow(unsafe_code)]

use cudarc::driver::{CudaStream, DriverError, result};
use fusion_course::DeviceBuffer;
use fusion_device::Device;

/// Bytes of a buffer's contents, without its margins.
pub fn bytes(buffer: &DeviceBuffer) -> usize {
    buffer.len() * buffer.dtype().bytes()
}

/// Has the emulated device, where it is one, count a buffer's contents as never written, so that reading poison is
/// reported.
///
/// # Errors
/// The driver's, of what ran before: this waits for the stream.
pub fn forget(device: &Device, buffer: &DeviceBuffer) -> Result<(), DriverError> {
    device.stream.synchronize()?;
    if let Some(emulator) = device.emulator() {
        // A range that the emulator does not know is none of a live buffer: there is nothing to forget.
        let _ = emulator.forget(buffer.address(&device.stream), bytes(buffer) as u64);
    }
    Ok(())
}

/// The first element of a buffer with a byte that was never written, or was forgotten since; the emulated device knows.
pub fn unwritten(device: &Device, buffer: &DeviceBuffer) -> Option<usize> {
    let at = device.emulator()?.unwritten(buffer.address(&device.stream), bytes(buffer) as u64)?;
    Some(at as usize / buffer.dtype().bytes())
}

/// Queues a copy of `len` bytes between buffers, from and to the given offsets in bytes.
///
/// # Errors
/// The driver's; `CUDA_ERROR_INVALID_VALUE` for a range that does not lie within both, of which nothing is copied.
pub fn copy(
    stream: &CudaStream,
    from: (&DeviceBuffer, usize),
    to: (&mut DeviceBuffer, usize),
    len: usize,
) -> Result<(), DriverError> {
    let fits = |buffer: &DeviceBuffer, offset: usize| offset.checked_add(len).is_some_and(|end| end <= bytes(buffer));
    if !fits(from.0, from.1) || !fits(to.0, to.1) {
        return Err(DriverError(cudarc::driver::sys::CUresult::CUDA_ERROR_INVALID_VALUE));
    }
    if len == 0 {
        return Ok(());
    }
    let source = from.0.address(stream) + from.1 as u64;
    let target = to.0.address(stream) + to.1 as u64;
    stream.context().bind_to_thread()?;
    // SAFETY: both ranges were checked to lie within live buffers; two buffers never overlap.
    unsafe { result::memcpy_dtod_async(target, source, len, stream.cu_stream()) }
}
