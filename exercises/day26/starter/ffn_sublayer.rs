//! The launches of `ffn_sublayer`: x + gelu(layernorm(x) W + bias).

use std::sync::Arc;

// TODO(imports): launches need `LaunchConfig` and `PushKernelArg` as well, and `gemm` needs `fusion_course::GemmSizes`.
use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError};
use fusion_course::Gemm;
// END TODO
use half::f16;

/// Queues at most three launches on `stream`: of kernels in `module`, and of `gemm`.
///
/// `x`, `out` and the two lent buffers `normed` and `product` hold `rows` rows of `columns` elements; `w` holds `columns`
/// rows of as many; `gamma`, `beta` and `bias` hold `columns`.
#[allow(clippy::too_many_arguments)] // The operation has so many.
pub fn ffn_sublayer(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    gemm: &dyn Gemm,
    x: &CudaView<'_, f16>,
    gamma: &CudaView<'_, f16>,
    beta: &CudaView<'_, f16>,
    w: &CudaView<'_, f16>,
    bias: &CudaView<'_, f16>,
    normed: &mut CudaViewMut<'_, f16>,
    product: &mut CudaViewMut<'_, f16>,
    out: &mut CudaViewMut<'_, f16>,
    rows: usize,
    columns: usize,
) -> Result<(), DriverError> {
    // TODO(launch): launch what you have decided on.
    //   1. `module.load_function("...")?` gives a kernel; `stream.launch_builder(&kernel)` takes its arguments with
    //      `.arg(...)`, and `.launch(config)` queues it.
    //   2. `gemm.multiply(stream, &a.as_view(), b, c, GemmSizes { m, n, k })?` queues c = a b: a has m rows of k elements,
    //      b has k rows of n, c has m rows of n.
    //   3. A buffer that one launch writes and the next one reads is passed as `&mut *buffer` to the first; its
    //      `buffer.as_view()` is what the second takes.
    //   4. Nothing is to be launched where there are no rows or no columns.
    let _ = (stream, module, gemm, x, gamma, beta, w, bias, normed, product, out, rows, columns);
    Ok(())
    // END TODO
}
