// One lane arrives for its warp, but the others need not have written by then.
// fail: E-RACE-SHARED
// launch: k<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
#include <cuda/barrier>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 4);
    __syncthreads();
    s[t] = x[t];
    if (t % 32 == 0) (void)bar.arrive();
    bar.wait_parity(false);
    y[t] = s[127 - t];
}
