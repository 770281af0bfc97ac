// A ring of two tiles: a warp gives a tile back when it has issued the product that reads it, and does not wait for that.
// fail: E-WARPGROUP-OVERWRITE
// header: wgmma.cuh
// launch: k<<<1, 160>>>(x: f16[4096], y: f32[512] uninit)
#include "wgmma.cuh"
__device__ unsigned at(void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void arrive(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ void wait_for(unsigned long long* b, int parity) {
    for (int done = 0; !done;) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
    }
}
extern "C" __global__ void k(const unsigned short* x, float* y) {
    __shared__ __align__(128) Tiles t[2];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&full[i])) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(at(&empty[i])) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 128) {
        for (int i = 0; i < 6; i++) {
            wait_for(&empty[i % 2], i / 2 % 2 ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&full[i % 2])), "n"(sizeof(Tiles)) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(&t[i % 2])),
                         "l"(x), "n"(sizeof(Tiles)), "r"(at(&full[i % 2])) : "memory");
        }
    }
    if (threadIdx.x >= 128) return;
    float d[4] = {};
    for (int i = 0; i < 6; i++) {
        wait_for(&full[i % 2], i / 2 % 2);
        fence();
        multiply(d, t[i % 2]);
        commit();
        arrive(&empty[i % 2]);
        wait<0>();
    }
    store(y, d);
}
