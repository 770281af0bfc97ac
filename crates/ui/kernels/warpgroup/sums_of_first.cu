// One group may still be under way, and the sums of the one before are read.
// pass
// near: warpgroup/sums_of_last
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y) {
    __shared__ __align__(128) Tiles t;
    fill(t, 1.0f);
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    float e[4] = {};
    fence();
    multiply(d, t);
    commit();
    multiply(e, t);
    commit();
    wait<1>();
    store(y, d);
    wait<0>();
    store(y, e);
}
