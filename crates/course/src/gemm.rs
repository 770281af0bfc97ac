//! Matrix products, which exercises call and do not write.

#![allow(unsafe_code)] // The addresses of what is multiplied.

use std::fmt::Debug;
use std::sync::Arc;

use cudarc::driver::{CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DriverError, sys::CUresult};
use half::f16;

/// Who multiplies matrices: the vendor's library where there is one, a kernel of the course elsewhere.
pub trait Gemm: Debug {
    /// Queues `c = a b` on `stream`, all row-major in f16: `a` is m x k, `b` is k x n, `c` is m x n. Products are summed
    /// up in f32, and a sum is rounded once.
    ///
    /// # Errors
    /// The driver's or the library's, as a driver error.
    ///
    /// # Safety
    /// `a`, `b` and `c` are device addresses of as many elements as the sizes say, which stay allocated until the
    /// stream has come past this, and `c` overlaps neither of the others.
    unsafe fn queue(&self, stream: &Arc<CudaStream>, addresses: [u64; 3], sizes: GemmSizes) -> Result<(), DriverError>;
}

/// The sizes of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmSizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

impl dyn Gemm + '_ {
    /// Queues `c = a b` on `stream`, all row-major: `a` is m x k, `b` is k x n, `c` is m x n.
    ///
    /// # Errors
    /// As [`Gemm::queue`]'s; `CUDA_ERROR_INVALID_VALUE` for views that are too short.
    pub fn multiply(
        &self,
        stream: &Arc<CudaStream>,
        a: &CudaView<'_, f16>,
        b: &CudaView<'_, f16>,
        c: &mut CudaViewMut<'_, f16>,
        sizes: GemmSizes,
    ) -> Result<(), DriverError> {
        let GemmSizes { m, n, k } = sizes;
        if a.len() < m * k || b.len() < k * n || c.len() < m * n {
            return Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
        }
        let ((a, _a), (b, _b), (c, _c)) = (a.device_ptr(stream), b.device_ptr(stream), c.device_ptr_mut(stream));
        // SAFETY: the views are long enough, and `c` is borrowed mutably, so it overlaps neither of the others.
        unsafe { self.queue(stream, [a, b, c], sizes) }
    }
}

/// For exercises that multiply no matrices: every product is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGemm;

impl Gemm for NoGemm {
    unsafe fn queue(&self, _: &Arc<CudaStream>, _: [u64; 3], _: GemmSizes) -> Result<(), DriverError> {
        Err(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED))
    }
}
