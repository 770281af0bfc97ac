// The second round has no fence between its stores and its product.
// fail: E-PROXY-FENCE
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
    __syncthreads();
    fill(t, 2.0f);
    __syncthreads();
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
