// The same behind the wait, over two rounds.
// pass
// near: race/async_mbarrier_own
// launch: k<<<2, 64>>>(x: f32[512], y: f32[256] uninit)
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float s[256];
    __shared__ __mbarrier_t bar;
    int t = threadIdx.x, base = blockIdx.x * 256;
    if (t == 0) __mbarrier_init(&bar, 64);
    __syncthreads();
    for (int round = 0; round < 2; round++) {
        __pipeline_memcpy_async(&s[4 * t], &x[base + 4 * t], 16);
        __pipeline_arrive_on(&bar);
        auto token = __mbarrier_arrive(&bar);
        while (!__mbarrier_test_wait(&bar, token)) {}
        y[(blockIdx.x * 2 + round) * 64 + t] = s[4 * t];
    }
}
