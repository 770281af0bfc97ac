// The threads that multiply fence after the barrier: the fence stands between the stores and the product all the same.
// pass
// near: warpgroup/proxy_before
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y) {
    __shared__ __align__(128) Tiles t;
    fill(t, 1.0f);
    __syncthreads();
    proxy_fence();
    float d[4] = {};
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
