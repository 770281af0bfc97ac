// The top rung of the ladder: a product by warp groups, as gemm_groups.cuh has it, whose tiles are copied
// to c. While one is written, the factors of the next one are copied.
//
// What copies of boxes cannot do, and what other architectures have, is `gemm_tile_any`'s.
#include <cuda_bf16.h>
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#include "gemm_groups.cuh"

// ANCHOR: store
struct Shared {
    Box<64> out[2][2]; // For two boxes of each group.
    Ring ring;
};

// Writes a warp group's sums by boxes of 64 columns, which are copied from shared memory. Two
// take turns: one is written, and one copied.
__device__ __forceinline__ void store_sums(Box<64> (&boxes)[2], const TensorMap& c,
                                           const float (&sums)[COLUMNS / 2], unsigned row,
                                           unsigned column) {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
    const int r = threadIdx.x % 128 / 32 * 16 + lane % 16;
    const bool leads = threadIdx.x % 128 == 0;
#pragma unroll
    for (int i = 0; i < COLUMNS / 64; i++) {
        Box<64>& box = boxes[i % 2];
        if (leads) wait_for_stores<1>();
        group_sync(group);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float* of = &sums[32 * i + 8 * j];
            const unsigned rounded[4] = {rounded_pair(of[0], of[1]), rounded_pair(of[2], of[3]),
                                         rounded_pair(of[4], of[5]), rounded_pair(of[6], of[7])};
            store_matrices(box.pack(r, 2 * j + lane / 16), rounded);
        }
        show_to_copies();
        group_sync(group);
        if (leads) store_box(c, column + i * 64, row, &box);
    }
}
// ANCHOR_END: store

// ANCHOR: kernel
// For rows of all matrices that begin at multiples of 16 bytes, and at least one term.
extern "C" __global__ void __launch_bounds__(384, 1)
    gemm_tile_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    const __grid_constant__ TensorMap c, size_t m, size_t n, size_t k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared& shared = *(Shared*)memory;
    if (threadIdx.x == 0) shared.ring.init();
    __syncthreads();
    const Order order(m, n);
    const unsigned steps = (k + DEPTH - 1) / DEPTH;
    const int group = threadIdx.x / 128;
    Turn turn;
    unsigned row, column;
    if (group == 0) {
        keep_few_registers();
        // One thread. It does not stop at the end of a tile.
        if (threadIdx.x > 0) return;
        for (unsigned tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
            order.place(tile, row, column);
            load_factors(shared.ring, turn, a, b, row, column, steps);
        }
    } else {
        take_many_registers();
        for (unsigned tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
            float sums[COLUMNS / 2];
            multiply_tile(sums, shared.ring, turn, steps);
            order.place(tile, row, column);
            store_sums(shared.out[group - 1], c, sums, row + (group - 1) * 64, column);
        }
        // The memory is the block's until the last box was read.
        wait_for_stores<0>();
    }
}
// ANCHOR_END: kernel
#endif

// Element by element, for rows that begin anywhere: 64 x 64 sums for a block, a warp's 16 x 32.
extern "C" __global__ void __launch_bounds__(256) gemm_tile_any(const bf16* __restrict__ a, const bf16* __restrict__ b,
                                                                bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    const int THREADS = 256, TILE = 64, DEPTH = 32, PAD = 8;
    __shared__ __align__(16) bf16 tile_a[TILE][DEPTH + PAD];
    __shared__ __align__(16) bf16 tile_b[DEPTH][TILE + PAD];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 32;
    float sums[4][4] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int at = threadIdx.x; at < TILE * DEPTH; at += THREADS) {
            const size_t of_a = step + at % DEPTH, of_b = left + at % TILE;
            const bool in_a = top + at / DEPTH < m && of_a < k, in_b = step + at / TILE < k && of_b < n;
            tile_a[at / DEPTH][at % DEPTH] = in_a ? a[(top + at / DEPTH) * k + of_a] : bf16(0.0f);
            tile_b[at / TILE][at % TILE] = in_b ? b[(step + at / TILE) * n + of_b] : bf16(0.0f);
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            unsigned of_a[4], of_b[2][4];
            load_matrices(of_a, &tile_a[row + lane % 16][inner + lane / 16 * 8]);
            load_matrices_transposed(of_b[0], &tile_b[inner + lane % 16][column + lane / 16 * 8]);
            load_matrices_transposed(of_b[1], &tile_b[inner + lane % 16][column + 16 + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(sums[j], of_a, of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t r = top + row + i / 2 * 8 + lane / 4, at = left + column + 8 * j + lane % 4 * 2 + i % 2;
            if (r < m && at < n) c[r * n + at] = __float2bfloat16(sums[j][i]);
        }
    }
}
