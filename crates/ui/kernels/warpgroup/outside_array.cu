// The stride of another layout leads out of the array.
// fail: E-OOB-SHARED
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit, n: i32 = 0)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y, int n) {
    __shared__ __align__(128) Tiles t;
    __shared__ __align__(128) float other[512];
    fill(t, 1.0f);
    for (int i = threadIdx.x; i < 512; i += 128) other[i] = 1.0f;
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    fence();
    multiply(d, descriptor(t.a, 1024, 256), descriptor(t.b, 128));
    commit();
    wait<0>();
    store(y, d);
    if (n > 0) y[0] = other[n];
}
