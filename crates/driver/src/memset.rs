//! Memsets of every width, in lines and planes.

use fusion_machine::Footprint;

use crate::boundary::export;
use crate::copy::resolve_device;
use crate::driver::{Driver, Session};
use crate::error::{Error, Result};
use crate::ffi::{DevicePtr, Handle, MemsetNodeParams};
use crate::operation::Operation;
use crate::order::footprint;

/// `height` rows of `width` elements of `element` bytes, set to the low bytes of `value`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) address: DevicePtr,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    pub(crate) value: u32,
    pub(crate) element: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Fill {
    fn line(address: DevicePtr, value: u32, element: usize, width: usize) -> Self {
        Self { address, pitch: 0, value, element, width, height: 1 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.element * self.width * self.height) as u64
    }

    pub(crate) fn params(&self) -> MemsetNodeParams {
        MemsetNodeParams {
            dst: self.address,
            pitch: self.pitch,
            value: self.value,
            element_size: self.element as u32,
            width: self.width,
            height: self.height,
        }
    }

    /// Checks a memset against the allocation that it writes to.
    pub(crate) fn check(&self, driver: &Driver) -> Result {
        let row = self.width.checked_mul(self.element).ok_or(Error::INVALID_VALUE)?;
        let len = match self.height {
            1 => Some(row),
            _ if self.pitch < row => None,
            _ => self.pitch.checked_mul(self.height - 1).and_then(|len| len.checked_add(row)),
        };
        let aligned = matches!(self.element, 1 | 2 | 4) && self.address.is_multiple_of(self.element as u64);
        if !aligned {
            return Err(Error::INVALID_VALUE);
        }
        resolve_device(driver, self.address, len.ok_or(Error::INVALID_VALUE)?).map(|_| ())
    }

    /// What it writes.
    pub(crate) fn footprint(&self) -> Footprint {
        let row = (self.width * self.element) as u64;
        footprint([], (0..self.height).map(|i| (self.address + (i * self.pitch) as u64, row)))
    }

    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    pub(crate) fn run(&self, driver: &Driver) -> Result {
        if self.is_empty() {
            return Ok(());
        }
        let pattern = &self.value.to_le_bytes()[..self.element];
        let row = self.width * self.element;
        for i in 0..self.height {
            let address = self.address + (i * self.pitch) as u64;
            match resolve_device(driver, address, row)? {
                Some(address) => driver
                    .machine
                    .memory()
                    .fill(address, pattern, self.width as u64)
                    .map_err(|_| Error::INVALID_VALUE)?,
                None => fill_host(address, pattern, row),
            }
        }
        Ok(())
    }
}

/// Fills memory that is mirrored on the host.
fn fill_host(address: u64, pattern: &[u8], len: usize) {
    let bytes = pattern.repeat(len.div_ceil(pattern.len().max(1)));
    let len = len.min(bytes.len());
    // SAFETY: `resolve_device` found all bytes inside one block of mirrored host memory; the pattern's are ours.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, len) };
}

fn fill(fill: Fill, stream: Option<Handle>) -> Result {
    let session = Session::begin()?;
    let resolved = session.stream(stream.unwrap_or(0))?;
    if fill.is_empty() {
        return Ok(());
    }
    fill.check(session.driver)?;
    match stream {
        Some(_) => session.submit(resolved, Operation::Fill(fill)),
        None => session.submit_and_wait(resolved, Operation::Fill(fill)),
    }
}

export! {
    fn cuMemsetD8_v2(address: DevicePtr, value: u8, count: usize) {
        fill(Fill::line(address, value.into(), 1, count), None)
    }

    fn cuMemsetD8Async(address: DevicePtr, value: u8, count: usize, stream: Handle) {
        fill(Fill::line(address, value.into(), 1, count), Some(stream))
    }

    fn cuMemsetD16_v2(address: DevicePtr, value: u16, count: usize) {
        fill(Fill::line(address, value.into(), 2, count), None)
    }

    fn cuMemsetD16Async(address: DevicePtr, value: u16, count: usize, stream: Handle) {
        fill(Fill::line(address, value.into(), 2, count), Some(stream))
    }

    fn cuMemsetD32_v2(address: DevicePtr, value: u32, count: usize) {
        fill(Fill::line(address, value, 4, count), None)
    }

    fn cuMemsetD32Async(address: DevicePtr, value: u32, count: usize, stream: Handle) {
        fill(Fill::line(address, value, 4, count), Some(stream))
    }

    fn cuMemsetD2D8_v2(address: DevicePtr, pitch: usize, value: u8, width: usize, height: usize) {
        fill(Fill { address, pitch, value: value.into(), element: 1, width, height }, None)
    }

    fn cuMemsetD2D8Async(
        address: DevicePtr,
        pitch: usize,
        value: u8,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        fill(Fill { address, pitch, value: value.into(), element: 1, width, height }, Some(stream))
    }

    fn cuMemsetD2D16_v2(address: DevicePtr, pitch: usize, value: u16, width: usize, height: usize) {
        fill(Fill { address, pitch, value: value.into(), element: 2, width, height }, None)
    }

    fn cuMemsetD2D16Async(
        address: DevicePtr,
        pitch: usize,
        value: u16,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        fill(Fill { address, pitch, value: value.into(), element: 2, width, height }, Some(stream))
    }

    fn cuMemsetD2D32_v2(address: DevicePtr, pitch: usize, value: u32, width: usize, height: usize) {
        fill(Fill { address, pitch, value, element: 4, width, height }, None)
    }

    fn cuMemsetD2D32Async(
        address: DevicePtr,
        pitch: usize,
        value: u32,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        fill(Fill { address, pitch, value, element: 4, width, height }, Some(stream))
    }
}
