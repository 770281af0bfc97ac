// The tile ends behind the shared memory of the block.
// fail: E-OOB-SHARED
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
    multiply(d, descriptor(t.a, 4096), descriptor(t.b, 128));
    commit();
    wait<0>();
    store(y, d);
}
