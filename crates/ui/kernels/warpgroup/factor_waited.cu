// A register of A is written after the product was waited for.
// pass
// near: warpgroup/factor_overwritten
// header: wgmma.cuh
// launch: k<<<1, 128>>>(y: f32[512] uninit, x: u32[128], n: i32 = 3)
#include "wgmma.cuh"
extern "C" __global__ void k(float* y, const unsigned* x, int n) {
    __shared__ __align__(128) Tiles t;
    fill(t, 1.0f);
    proxy_fence();
    __syncthreads();
    float d[4] = {};
    unsigned a[4] = {0x3f803f80u, 0x3f803f80u, 0x3f803f80u, 0x3f803f80u};
    for (int i = 0; i < 4; i++) a[i] ^= x[threadIdx.x];
    for (int i = 0; i < n; i++) {
        fence();
        multiply(d, a, descriptor(t.b, 128));
        commit();
        wait<0>();
        for (int j = 0; j < 4; j++) asm volatile("add.u32 %0, %0, %1;" : "+r"(a[j]) : "r"(i));
    }
    wait<0>();
    store(y, d);
}
