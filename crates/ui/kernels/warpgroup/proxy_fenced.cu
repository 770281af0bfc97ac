// Each thread fences its stores, and then the barrier.
// pass
// near: warpgroup/proxy_missing
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y) {
    __shared__ __align__(128) Tiles t;
    fill(t, 1.0f);
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
