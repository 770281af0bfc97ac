// Only 12 of 16 rows are written: what is computed from the others is stored.
// fail: E-UNINIT-SHARED
// launch: k<<<1, 32>>>(x: f16[192], y: f32[128] uninit)
#include <cuda_fp16.h>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void load4(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at(row)) : "memory");
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
extern "C" __global__ void k(const __half* x, float* y) {
    __shared__ __align__(16) __half tile[16][16];
    int t = threadIdx.x;
    for (int i = t; i < 192; i += 32) tile[i / 16][i % 16] = x[i];
    __syncwarp();
    unsigned a[4];
    load4(a, &tile[t % 16][t / 16 * 8]);
    float d[4] = {};
    multiply(d, a, 0x3c003c00, 0x3c003c00);
    for (int i = 0; i < 4; i++) y[32 * i + t] = d[i];
}
