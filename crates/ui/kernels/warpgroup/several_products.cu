// Products that add to the same sums need no fence between them.
// pass
// near: warpgroup/fence_missing
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
    for (int i = 0; i < 4; i++) multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
