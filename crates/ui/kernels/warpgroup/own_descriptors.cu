// Each warp describes its own rows of A, which the hardware finds itself.
// fail: E-WARPGROUP-DESCRIPTOR
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y) {
    __shared__ __align__(128) Tiles t[2];
    fill(t[0], 1.0f);
    fill(t[1], 1.0f);
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    fence();
    multiply(d, descriptor(t[0].a, 1024) + threadIdx.x / 32 * 16, descriptor(t[0].b, 128));
    commit();
    wait<0>();
    store(y, d);
}
