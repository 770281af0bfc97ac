// The fence stands before the stores.
// fail: E-PROXY-FENCE
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y) {
    __shared__ __align__(128) Tiles t;
    proxy_fence();
    fill(t, 1.0f);
    __syncthreads();
    float d[4] = {};
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
