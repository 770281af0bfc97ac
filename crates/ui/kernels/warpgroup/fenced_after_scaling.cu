// A fence stands between the scaling of the sums and the next product.
// pass
// near: warpgroup/fence_after_scaling
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit, x: f32[128])
#include "wgmma.cuh"
extern "C" __global__ void k(float* y, const float* x) {
    __shared__ __align__(128) Tiles t;
    fill(t, 1.0f);
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    for (int i = 0; i < 4; i++) d[i] *= x[threadIdx.x];
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
