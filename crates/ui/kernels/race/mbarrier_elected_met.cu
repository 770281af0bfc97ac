// The warp meets before one lane arrives for it.
// pass
// near: race/mbarrier_elected
// launch: k<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
#include <cuda/barrier>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 4);
    __syncthreads();
    s[t] = x[t];
    __syncwarp();
    if (t % 32 == 0) (void)bar.arrive();
    bar.wait_parity(false);
    y[t] = s[127 - t];
}
