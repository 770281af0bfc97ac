// The same, and the chunks of a row are exchanged by its number: eight rows are in all banks.
// pass
// near: matrix/banks
// checks: performance
// launch: k<<<64, 256>>>(x: f16[1024], y: u32[65536] uninit)
#include <cuda_fp16.h>
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void load4(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at(row)) : "memory");
}
extern "C" __global__ void k(const __half* x, unsigned* y) {
    __shared__ __align__(16) __half tile[16][64];
    int t = threadIdx.x, lane = t % 32;
    for (int i = t; i < 1024; i += 256) tile[i / 64][((i % 64 / 8) ^ (i / 64 % 8)) * 8 + i % 8] = x[i];
    __syncthreads();
    unsigned sum = 0;
    for (int j = 0; j < 8; j++) {
        unsigned r[4];
        load4(r, &tile[lane % 16][((lane / 16 + j) % 8 ^ lane % 8) * 8]);
        sum += r[0] ^ r[1] ^ r[2] ^ r[3];
    }
    for (int i = 0; i < 4; i++) y[1024 * blockIdx.x + 256 * i + t] = sum;
}
