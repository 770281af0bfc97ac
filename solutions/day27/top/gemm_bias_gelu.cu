// The top rung of the ladder: a product by warp groups, as gemm_groups.cuh has it. The residual comes through
// the same ring of stages as the factors. The result takes its place there, and is copied from it.
//
// What copies of boxes cannot do, and what other architectures have, is `gemm_bias_gelu_any`'s.
#include <cuda_bf16.h>
#include "activation.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#include "gemm_groups.cuh"

// ANCHOR: residual
// A stage has room for the residual of half a tile's columns: two boxes beside each other for
// each of the two warp groups.
const int HALVES = 2;

// One thread: after the factors of a tile, two more stages.
__device__ __forceinline__ void load_residual(Ring& ring, Turn& turn, const TensorMap& residual,
                                              unsigned row, unsigned column) {
    for (int half = 0; half < HALVES; half++, turn.next()) {
        Stage& stage = ring.stages[turn.stage];
        ring.empty[turn.stage].wait(turn.parity ^ 1);
        ring.full[turn.stage].arrive_and_expect(sizeof(stage.b));
        for (int i = 0; i < 4; i++) {
            load_box(&stage.b[i], residual, column + 128 * half + i % 2 * 64, row + i / 2 * 64,
                     ring.full[turn.stage]);
        }
    }
}
// ANCHOR_END: residual

// ANCHOR: finish
// Two neighbours of the bias, or zeros behind the last column.
__device__ __forceinline__ float2 bias_of(const bf16* bias, unsigned column, unsigned n) {
    if (column >= n) return make_float2(0, 0);
    return __bfloat1622float2(*(const __nv_bfloat162*)&bias[column]);
}

__device__ __forceinline__ unsigned finish(float one, float two, float2 shift, unsigned rest) {
    const float2 add = __bfloat1622float2(*(const __nv_bfloat162*)&rest);
    return rounded_pair(gelu_fast(one + shift.x) + add.x, gelu_fast(two + shift.y) + add.y);
}

// A warp group finishes its 64 rows of a tile, and has them copied to d.
__device__ __forceinline__ void finish_tile(Ring& ring, Turn& turn, const TensorMap& d,
                                            const bf16* bias, const float (&sums)[COLUMNS / 2],
                                            unsigned row, unsigned column, unsigned n) {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
    const int r = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
    for (int half = 0; half < HALVES; half++, turn.next()) {
        Box<64>* boxes = &ring.stages[turn.stage].b[2 * (group - 1)];
        ring.full[turn.stage].wait(turn.parity);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const float* of = &sums[64 * half + 8 * j];
            const unsigned at = column + 128 * half + 16 * j + lane % 4 * 2;
            const float2 left = bias_of(bias, at, n), right = bias_of(bias, at + 8, n);
            // Four small matrices of the residual lie in lanes as those of the sums do.
            void* place = boxes[j / 4].pack(r, j % 4 * 2 + lane / 16);
            unsigned rest[4];
            load_matrices(rest, place);
            const unsigned results[4] = {
                finish(of[0], of[1], left, rest[0]), finish(of[2], of[3], left, rest[1]),
                finish(of[4], of[5], right, rest[2]), finish(of[6], of[7], right, rest[3])};
            store_matrices(place, results);
        }
        show_to_copies();
        group_sync(group);
        if (threadIdx.x % 128 == 0) {
            for (int i = 0; i < 2; i++)
                store_box(d, column + 128 * half + 64 * i, row, &boxes[i]);
            // The stage is used until the boxes were read.
            wait_for_stores<0>();
        }
        ring.release(turn.stage);
    }
}
// ANCHOR_END: finish

// ANCHOR: kernel
// For rows of all matrices that begin at multiples of 16 bytes, and at least one term.
extern "C" __global__ void __launch_bounds__(384, 1)
    gemm_bias_gelu_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                         const bf16* __restrict__ bias,
                         const __grid_constant__ TensorMap residual,
                         const __grid_constant__ TensorMap d, size_t m, size_t n, size_t k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Ring& ring = *(Ring*)memory;
    if (threadIdx.x == 0) ring.init();
    __syncthreads();
    const Order order(m, n);
    const unsigned steps = (k + DEPTH - 1) / DEPTH;
    const int group = threadIdx.x / 128;
    Turn turn;
    unsigned row, column;
    if (group == 0) {
        keep_few_registers();
        if (threadIdx.x > 0) return;
        for (unsigned tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
            order.place(tile, row, column);
            load_factors(ring, turn, a, b, row, column, steps);
            load_residual(ring, turn, residual, row, column);
        }
    } else {
        take_many_registers();
        for (unsigned tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
            float sums[COLUMNS / 2];
            multiply_tile(sums, ring, turn, steps);
            order.place(tile, row, column);
            finish_tile(ring, turn, d, bias, sums, row + (group - 1) * 64, column, n);
        }
    }
}
// ANCHOR_END: kernel
#endif

// Element by element, for rows that begin anywhere: 64 x 64 sums for a block, a warp's 16 x 32.
extern "C" __global__ void __launch_bounds__(256)
    gemm_bias_gelu_any(const bf16* __restrict__ a, const bf16* __restrict__ b, const bf16* __restrict__ bias,
                       const bf16* __restrict__ residual, bf16* __restrict__ d, size_t m, size_t n, size_t k) {
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
            if (r >= m || at >= n) continue;
            const float activated = gelu_fast(sums[j][i] + __bfloat162float(bias[at]));
            d[r * n + at] = __float2bfloat16(activated + __bfloat162float(residual[r * n + at]));
        }
    }
}
