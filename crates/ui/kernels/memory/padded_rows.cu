// Rows of 34 halves keep every row at an even half.
// pass
// near: memory/misaligned_rows
// launch: halves<<<4, 16>>>(x: f16[136], y: f16[128] uninit)
#include <cuda_fp16.h>
extern "C" __global__ void halves(const __half* x, __half* y) {
    const __half2* row = reinterpret_cast<const __half2*>(x + blockIdx.x * 34);
    reinterpret_cast<__half2*>(y)[blockIdx.x * 16 + threadIdx.x] = row[threadIdx.x];
}
