// Two tiles: the product of the round before has read the tile that is filled next.
// pass
// near: warpgroup/ring_too_early
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
        wait<1>();
        __syncthreads();
        if (i + 1 < n) fill(t[(i + 1) % 2], 1.0f);
    }
    wait<0>();
    store(y, d);
}
