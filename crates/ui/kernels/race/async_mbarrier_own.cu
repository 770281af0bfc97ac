// Each thread reads what it has copied itself. It has let the mbarrier wait for the copy, and does not wait for the mbarrier before it reads.
// fail: E-RACE-ASYNC
// launch: k<<<2, 64>>>(x: f32[512], y: f32[128] uninit)
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float s[256];
    __shared__ __mbarrier_t bar;
    int t = threadIdx.x, base = blockIdx.x * 256;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    __pipeline_memcpy_async(&s[4 * t], &x[base + 4 * t], 16);
    __pipeline_arrive_on(&bar);
    auto token = __mbarrier_arrive(&bar);
    y[blockIdx.x * 64 + t] = s[4 * t];
    while (!__mbarrier_test_wait(&bar, token)) {}
}
