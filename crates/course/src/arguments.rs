//! Device buffers, and how they become the typed arguments of a launch function.

#![allow(unsafe_code)]

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DeviceRepr, DriverError, result};

use crate::{DType, Data, Gemm, Param, Scalar, Shape};

/// A device buffer of one element type, with a red zone of `margin` bytes on both sides.
///
/// Red zones catch stray writes on a real GPU. On the emulated device the margin is zero, so that
/// the first byte past the buffer is a fault at the source line.
#[derive(Debug)]
pub struct DeviceBuffer {
    bytes: CudaSlice<u8>,
    dtype: DType,
    len: usize,
    margin: usize,
    /// Bytes before the first element: the margin, and what the exercise lets the buffer begin past it.
    before: usize,
}

/// What red zones hold: NaNs, for floats. A kernel that runs past the end computes with what it finds there and stores
/// the result there, and NVIDIA GPUs make another NaN of this one (0x7fffffff), so that the store is seen. Any ordinary
/// pattern may come out as it went in: a tiny value stays what it is when something tinier is added.
const RED_ZONE: u8 = 0xff;

/// Buffers with margins take whole units of so many bytes, so that neighbours begin a multiple of it apart, as long vectors do
/// without margins: a layernorm of long rows took 8% longer on an H200 with beta 72 KiB behind gamma than with 64 KiB.
const UNIT: usize = 64 << 10;

impl DeviceBuffer {
    /// Allocates `len` elements filled with poison. `margin` is in bytes, a multiple of an element's. The first element
    /// is as aligned as the margin is: to 256 bytes with none.
    pub fn poisoned(stream: &Arc<CudaStream>, dtype: DType, len: usize, margin: usize) -> Result<Self, DriverError> {
        let mut buffer = Self::uninitialised(stream, dtype, len, margin, margin)?;
        buffer.poison(stream)?;
        Ok(buffer)
    }

    /// The same for a parameter of an exercise, which may begin some elements past where an allocation does.
    pub fn for_param(
        stream: &Arc<CudaStream>,
        param: &Param,
        shape: Shape,
        margin: usize,
    ) -> Result<Self, DriverError> {
        let before = margin + param.offset * param.dtype.bytes();
        let mut buffer = Self::uninitialised(stream, param.dtype, param.len(shape), margin, before)?;
        buffer.poison(stream)?;
        Ok(buffer)
    }

    /// Allocates `len` elements of ordinary values, all of them alike: a little more than 0 as f32 and bf16, 1.06 as f16.
    pub fn ordinary(stream: &Arc<CudaStream>, dtype: DType, len: usize) -> Result<Self, DriverError> {
        let mut buffer = Self::uninitialised(stream, dtype, len, 0, 0)?;
        buffer.fill(stream, 0x3c)?;
        Ok(buffer)
    }

    /// Allocates a copy of host data.
    pub fn from_host(stream: &Arc<CudaStream>, data: &Data, margin: usize) -> Result<Self, DriverError> {
        let mut buffer = Self::uninitialised(stream, data.dtype(), data.len(), margin, margin)?;
        buffer.poison(stream)?;
        buffer.write(stream, data)?;
        Ok(buffer)
    }

    fn uninitialised(
        stream: &Arc<CudaStream>,
        dtype: DType,
        len: usize,
        margin: usize,
        before: usize,
    ) -> Result<Self, DriverError> {
        // An allocation of no bytes is an error in CUDA; an empty buffer keeps one element that nobody may touch.
        let size = match margin {
            0 => before + (len * dtype.bytes()).max(dtype.bytes()),
            _ => (before + len * dtype.bytes() + margin).next_multiple_of(UNIT),
        };
        // SAFETY: every user writes the bytes (`poison`, `write`) before anything reads them.
        let bytes = unsafe { stream.alloc::<u8>(size) }?;
        Ok(Self { bytes, dtype, len, margin, before })
    }

    /// The buffer of another process, by the address of its first element, for launches that are only taken down: neither reads nor
    /// writes find anything there. It must not be dropped, which would free it.
    pub fn elsewhere(stream: &Arc<CudaStream>, dtype: DType, len: usize, address: u64) -> ManuallyDrop<Self> {
        let size = (len * dtype.bytes()).max(dtype.bytes());
        // SAFETY: the address is not looked at here, and the slice is not dropped.
        let bytes = unsafe { stream.upgrade_device_ptr::<u8>(address, size) };
        ManuallyDrop::new(Self { bytes, dtype, len, margin: 0, before: 0 })
    }

    /// Fills the buffer with its type's poison and the margins with the red zone's pattern.
    pub fn poison(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        let start = self.bytes.device_ptr(stream).0;
        stream.context().bind_to_thread()?;
        // SAFETY: the range is the allocation, which is borrowed mutably and never empty; the stream orders the rest.
        unsafe { result::memset_d8_async(start, RED_ZONE, self.bytes.len(), stream.cu_stream()) }?;
        self.poison_contents(stream)
    }

    /// Queues filling the contents with the type's poison; what is in the margins stays.
    pub fn poison_contents(&mut self, stream: &CudaStream) -> Result<(), DriverError> {
        self.fill(stream, self.dtype.poison())
    }

    /// Queues filling the contents with a byte.
    fn fill(&mut self, stream: &CudaStream, byte: u8) -> Result<(), DriverError> {
        let (address, count) = (self.address(stream), self.len * self.dtype.bytes());
        if count == 0 {
            return Ok(());
        }
        stream.context().bind_to_thread()?;
        // SAFETY: the range is the contents, which are borrowed mutably; the stream orders the rest.
        unsafe { result::memset_d8_async(address, byte, count, stream.cu_stream()) }
    }

    /// Overwrites the contents. `data` has this buffer's type and length.
    pub fn write(&mut self, stream: &Arc<CudaStream>, data: &Data) -> Result<(), DriverError> {
        let host = data.to_bytes();
        if host.is_empty() {
            return Ok(());
        }
        stream.memcpy_htod(&host, &mut self.bytes.slice_mut(self.before..self.before + host.len()))
    }

    /// Queues repeating the first elements, so many of them, until the buffer is full.
    pub fn repeat(&mut self, stream: &Arc<CudaStream>, period: usize) -> Result<(), DriverError> {
        let (address, size) = (self.address(stream), self.dtype.bytes());
        let (mut done, len) = (period * size, self.len * size);
        stream.context().bind_to_thread()?;
        while 0 < done && done < len {
            let count = done.min(len - done);
            // SAFETY: reads `0..count` and writes `done..done + count` of the contents, which do not overlap, as
            // `count <= done`, and lie within them, as `done + count <= len`.
            unsafe { result::memcpy_dtod_async(address + done as u64, address, count, stream.cu_stream()) }?;
            done += count;
        }
        Ok(())
    }

    /// Copies elements back: so many from one on, as far as there are that many.
    pub fn read_part(&self, stream: &Arc<CudaStream>, from: usize, len: usize) -> Result<Data, DriverError> {
        let (from, size) = (from.min(self.len), self.dtype.bytes());
        let len = len.min(self.len - from);
        if len == 0 {
            return Ok(Data::from_bytes(self.dtype, &[]));
        }
        let start = self.before + from * size;
        let host = stream.clone_dtoh(&self.bytes.slice(start..start + len * size))?;
        Ok(Data::from_bytes(self.dtype, &host))
    }

    /// Copies the contents back.
    pub fn read(&self, stream: &Arc<CudaStream>) -> Result<Data, DriverError> {
        self.read_part(stream, 0, self.len)
    }

    /// Offset in bytes, relative to the buffer's start, of the first red-zone byte that was overwritten.
    pub fn damage(&self, stream: &Arc<CudaStream>) -> Result<Option<i64>, DriverError> {
        if self.margin == 0 {
            return Ok(None);
        }
        let host = stream.clone_dtoh(&self.bytes)?;
        let end = self.before + self.len * self.dtype.bytes();
        let damaged = host.iter().enumerate().position(|(i, b)| (i < self.before || i >= end) && *b != RED_ZONE);
        Ok(damaged.map(|i| i as i64 - self.before as i64))
    }

    /// The device address of the first element.
    ///
    /// For launches whose arguments are only known at run time. The address carries no lifetime and
    /// no event: keep the buffer alive, and use it on the one stream that everything else uses.
    pub fn address(&self, stream: &CudaStream) -> u64 {
        self.bytes.device_ptr(stream).0 + self.before as u64
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer as a typed view. `T` must have the size of the element type.
    pub fn view<T: DeviceRepr>(&self) -> CudaView<'_, T> {
        let bytes = self.bytes.slice(self.before..self.before + self.len * size_of::<T>());
        // SAFETY: the range holds `len` elements, allocations are aligned to 256
        // bytes, margins to an element, and every bit pattern is a value of the plain number types that signatures name.
        unsafe { bytes.transmute(self.len) }.expect("a range of `len` elements")
    }

    /// As [`DeviceBuffer::view`], for writing.
    pub fn view_mut<T: DeviceRepr>(&mut self) -> CudaViewMut<'_, T> {
        let range = self.before..self.before + self.len * size_of::<T>();
        let mut bytes = self.bytes.slice_mut(range.clone());
        // SAFETY: as in `view`.
        let view = unsafe { bytes.transmute_mut(self.len) }.expect("a range of `len` elements");
        // SAFETY: the view borrows `self`, not the local `bytes`, whose lifetime cudarc's signature
        // ties it to; both name the same device memory for as long as `self` is borrowed.
        unsafe { std::mem::transmute::<CudaViewMut<'_, T>, CudaViewMut<'_, T>>(view) }
    }
}

/// What a launch function is called with.
#[derive(Debug)]
pub struct Arguments<'a> {
    pub inputs: &'a [DeviceBuffer],
    pub outputs: &'a mut [DeviceBuffer],
    /// As [`crate::Exercise::scratch`].
    pub scratch: &'a mut [DeviceBuffer],
    /// What multiplies matrices, for exercises that leave that to a library.
    pub gemm: &'a dyn Gemm,
    pub scalars: &'a [Scalar],
    pub rows: usize,
    pub columns: usize,
    /// As [`Shape::depth`].
    pub depth: Option<usize>,
    /// As [`Shape::heads`].
    pub heads: Option<[usize; 2]>,
    /// As [`Shape::experts`].
    pub experts: Option<usize>,
    /// As [`Shape::pages`].
    pub pages: Option<usize>,
}

impl Arguments<'_> {
    pub fn shape(&self) -> Shape {
        let &Self { rows, columns, depth, heads, experts, pages, .. } = self;
        Shape { rows, columns, depth, heads, experts, pages }
    }
}
