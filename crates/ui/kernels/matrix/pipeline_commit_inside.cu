// The last round commits no group, so that a wait for all but one leaves the last tile under way.
// fail: E-RACE-ASYNC
// launch: gemm<<<1, 128>>>(a: f16[6144], b: f16[6144], c: f32[4096] uninit, n: i32 = 64, k: i32 = 96)
#include <cuda_fp16.h>
#define ROW 40
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void load4(unsigned (&r)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at(row)) : "memory");
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// 64 rows of 32 elements, 16 bytes per thread and turn.
__device__ void copy(__half (&to)[64][ROW], const __half* from, int k, int step) {
    for (int i = threadIdx.x; i < 256; i += 128)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"(at(&to[i / 4][i % 4 * 8])), "l"(from + i / 4 * k + 32 * step + i % 4 * 8) : "memory");
}
// C = A * B', 64 by 64 elements per block: the next 32 columns are copied while the warps multiply with these.
extern "C" __global__ void gemm(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ __align__(16) __half as[2][64][ROW], bs[2][64][ROW];
    a += blockIdx.y * 64 * k, b += blockIdx.x * 64 * k;
    int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 32, column = threadIdx.x / 32 % 2 * 32;
    float d[2][4][4] = {};
    copy(as[0], a, k, 0);
    copy(bs[0], b, k, 0);
    asm volatile("cp.async.commit_group;" ::: "memory");
    int steps = k / 32;
    for (int s = 0; s < steps; s++) {
        if (s + 1 < steps) {
            copy(as[(s + 1) % 2], a, k, s + 1);
            copy(bs[(s + 1) % 2], b, k, s + 1);
            asm volatile("cp.async.commit_group;" ::: "memory");
        }
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        for (int j = 0; j < 32; j += 16) {
            unsigned x[2][4], y[2][4];
            for (int i = 0; i < 2; i++) {
                load4(x[i], &as[s % 2][row + 16 * i + lane % 16][j + lane / 16 * 8]);
                load4(y[i], &bs[s % 2][column + 16 * i + lane % 16][j + lane / 16 * 8]);
            }
            for (int i = 0; i < 8; i++) multiply(d[i / 4][i % 4], x[i / 4], y[i % 4 / 2][i % 2], y[i % 4 / 2][i % 2 + 2]);
        }
        __syncthreads();
    }
    c += (blockIdx.y * 64 + row) * n + blockIdx.x * 64 + column;
    for (int i = 0; i < 8; i++) {
        float* at = c + (i / 4 * 16 + lane / 4) * n + i % 4 * 8 + lane % 4 * 2;
        float* d0 = d[i / 4][i % 4];
        at[0] = d0[0], at[1] = d0[1], at[8 * n] = d0[2], at[8 * n + 1] = d0[3];
    }
}
