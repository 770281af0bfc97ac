// The last warp of the block has 16 threads.
// fail: E-SYNC-MASK
// launch: k<<<1, 48>>>(x: f16[512], y: u32[192] uninit)
#include <cuda_fp16.h>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void load4(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at(row)) : "memory");
}
extern "C" __global__ void k(const __half* x, unsigned* y) {
    __shared__ __align__(16) __half tile[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 48) tile[i] = x[i];
    __syncthreads();
    unsigned r[4];
    load4(r, &tile[t / 32 * 256 + t % 32 * 8]);
    for (int i = 0; i < 4; i++) y[48 * i + t] = r[i];
}
