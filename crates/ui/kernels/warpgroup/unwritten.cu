// Nothing has written the last column of B.
// fail: E-UNINIT-SHARED
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y) {
    __shared__ __align__(128) Tiles t;
    for (int i = threadIdx.x; i < 1024; i += 128) t.a[i / 512][i / 8 % 64][i % 8] = __float2bfloat16(1.0f);
    if (threadIdx.x < 112) t.b[threadIdx.x / 56][threadIdx.x / 8 % 7][threadIdx.x % 8] = __float2bfloat16(1.0f);
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    fence();
    multiply(d, t);
    commit();
    wait<0>();
    store(y, d);
}
