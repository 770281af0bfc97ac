// Rows of 33 halves are read two at a time: every odd row begins at an odd half.
// fail: E-MISALIGNED
// launch: halves<<<4, 16>>>(x: f16[132], y: f16[128] uninit)
#include <cuda_fp16.h>
extern "C" __global__ void halves(const __half* x, __half* y) {
    const __half2* row = reinterpret_cast<const __half2*>(x + blockIdx.x * 33);
    reinterpret_cast<__half2*>(y)[blockIdx.x * 16 + threadIdx.x] = row[threadIdx.x];
}
