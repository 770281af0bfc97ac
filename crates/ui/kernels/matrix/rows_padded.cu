// Rows of 24 elements, of which 16 are used: 48 bytes, a multiple of 16, so that every row is aligned.
// pass
// near: matrix/rows_misaligned
// launch: k<<<1, 32>>>(x: f16[256], y: u32[128] uninit)
#include <cuda_fp16.h>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void load4(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at(row)) : "memory");
}
extern "C" __global__ void k(const __half* x, unsigned* y) {
    __shared__ __align__(16) __half tile[16][24];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32) tile[i / 16][i % 16] = x[i];
    __syncwarp();
    unsigned r[4];
    load4(r, &tile[t % 16][t / 16 * 8]);
    for (int i = 0; i < 4; i++) y[32 * i + t] = r[i];
}
