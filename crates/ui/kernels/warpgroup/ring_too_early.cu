// Two products may be under way, and there are two tiles: the one that is filled next is still read.
// fail: E-WARPGROUP-OVERWRITE
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit, n: i32 = 6)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y, int n) {
    __shared__ __align__(128) Tiles t[2];
    float d[4] = {};
    fill(t[0], 1.0f);
    for (int i = 0; i < n; i++) {
        proxy_fence();
        __syncthreads();
        fence();
        multiply(d, t[i % 2]);
        commit();
        wait<2>();
        __syncthreads();
        if (i + 1 < n) fill(t[(i + 1) % 2], 1.0f);
    }
    wait<0>();
    store(y, d);
}
