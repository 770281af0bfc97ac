// The buffer is announced as empty before it has been read.
// fail: E-RACE-SHARED
// launch: k<<<1, 128>>>(x: f32[512], y: f32[512] uninit)
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float buf[2][64];
    __shared__ barrier bar[4];
    int t = threadIdx.x;
    if (t < 4) init(bar + t, 128);
    __syncthreads();
    barrier* ready = bar; barrier* filled = bar + 2;
    if (t < 64) {
        for (int i = 0; i < 8; i++) {
            ready[i % 2].arrive_and_wait();
            buf[i % 2][t] = x[i * 64 + t];
            (void)filled[i % 2].arrive();
        }
    } else {
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        for (int i = 0; i < 8; i++) {
            filled[i % 2].arrive_and_wait();
            (void)ready[i % 2].arrive();
            y[i * 64 + t - 64] = buf[i % 2][127 - t];
        }
    }
}
