#include <cuda_bf16.h>
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

__device__ unsigned pair(bf16 one, bf16 two) {
    const __nv_bfloat162 both = __halves2bfloat162(one, two);
    return *(const unsigned*)&both;
}

// A warp has 16 x 8 sums, a block 128 x 128: each warp goes over 16 rows of them.
extern "C" __global__ void gemm_tile(const bf16* a, const bf16* b, bf16* c, size_t m, size_t n, size_t k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t row = (size_t)blockIdx.x * 128 + 16 * warp + lane / 4;
    auto of_a = [&](size_t r, size_t l) { return r < m && l < k ? a[r * k + l] : bf16(0.0f); };
    auto of_b = [&](size_t l, size_t j) { return l < k && j < n ? b[l * n + j] : bf16(0.0f); };
    for (int across = 0; across < 128; across += 8) {
        const size_t left = (size_t)blockIdx.y * 128 + across;
        float sums[4] = {};
        for (size_t step = 0; step < k; step += 16) {
            const size_t l = step + lane % 4 * 2;
            unsigned x[4];
            for (int i = 0; i < 4; i++) {
                const size_t r = row + i % 2 * 8, at = l + i / 2 * 8;
                x[i] = pair(of_a(r, at), of_a(r, at + 1));
            }
            const size_t j = left + lane / 4;
            multiply(sums, x, pair(of_b(l, j), of_b(l + 1, j)), pair(of_b(l + 8, j), of_b(l + 9, j)));
        }
        for (int i = 0; i < 4; i++) {
            const size_t r = row + i / 2 * 8, j = left + lane % 4 * 2 + i % 2;
            if (r < m && j < n) c[r * n + j] = __float2bfloat16(sums[i]);
        }
    }
}
