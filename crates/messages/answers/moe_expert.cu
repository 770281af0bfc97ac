// moe_expert: a layer of a mixture of experts, in bf16 with sums in f32. Of all experts, two work on each token:
//     out[t] = the sum over the two of  weight * (swiglu(x[t] w1[expert]) w2[expert])
//     swiglu of a row (gate, up) = silu(gate) * up,    silu(z) = z / (1 + exp(-z))
//
// x and out have `tokens` rows of `hidden` elements. Expert e has `hidden` rows of `2 * inter` elements in w1: a row has
// `inter` columns of gate, and then `inter` columns of up. The expert has `inter` rows of `hidden` elements in w2.
//
// A slot is a token with one of its experts: slot 2 t + i is token t with its i-th expert, and `weights` has a weight for each. `order`
// has the numbers of all slots, sorted by expert: those of expert e are order[offsets[e]] to order[offsets[e + 1] - 1].
// An expert may have none, one, or all of the tokens.
//
// Unfused, each step is a launch for each expert:
//     gather_rows           the expert's tokens, one after the other
//     gemm_few_rows_bf16    times w1
//     swiglu_bf16
//     gemm_few_rows_bf16    times w2
//     scatter_add           to the token's row of a buffer in f32, times the weight
// and two more: one fills that buffer with zeros, and one rounds it. With 64 experts these are up to 322 launches. Yours may be at most
// three, for any number of experts.
//
// Grade it with: cargo xtask grade moe_expert
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tile.cuh"

typedef __nv_bfloat16 bf16;

const int CHOICES = 2; // Experts of a token, and so slots.

// ANCHOR: kernels
// Writes silu(gate) * up of each slot to the row of `activated` that is the slot's place in `order`. A block has 64 of the columns of one
// expert: a panel of gate, and one of up.
extern "C" __global__ void __launch_bounds__(128)
    experts_up(const bf16* __restrict__ x, const bf16* __restrict__ w1, const int* __restrict__ order, const int* __restrict__ offsets,
               bf16* __restrict__ activated, size_t hidden, size_t inter) {
    __shared__ __align__(16) Tiles tiles;
    const size_t left = (size_t)blockIdx.x * PANEL, expert = blockIdx.y;
    const size_t right = inter + left, columns = 2 * inter;
    const size_t begin = offsets[expert], end = offsets[expert + 1];
    const bf16* weights = w1 + expert * hidden * columns;
    const bool packs = hidden % 8 == 0 && inter % 8 == 0 && aligned16(x, w1);
    for (size_t top = begin; top < end; top += TILE_ROWS) {
        const size_t place = top + threadIdx.x / 4;
        const bf16* row = place < end ? x + order[place] / CHOICES * hidden : nullptr;
        const TileSums sums = multiply_tile(tiles, row, weights, columns, {left, inter}, {right, columns}, hidden, packs);
        auto write = [&](int of_tile, int of_panel, float2 gate, float2 up) {
            if (top + of_tile >= end) return;
            bf16* to = activated + (top + of_tile) * inter;
            const size_t column = left + of_panel;
            if (column < inter) to[column] = __float2bfloat16(silu(gate.x) * up.x);
            if (column + 1 < inter) to[column + 1] = __float2bfloat16(silu(gate.y) * up.y);
        };
        each_pair(sums, write);
    }
}

// Writes each slot's result, before its weight, to the slot's row of `parts`. A block has 128 of the columns of one expert.
extern "C" __global__ void __launch_bounds__(128)
    experts_down(const bf16* __restrict__ activated, const bf16* __restrict__ w2, const int* __restrict__ order,
                 const int* __restrict__ offsets, float* __restrict__ parts, size_t hidden, size_t inter) {
    __shared__ __align__(16) Tiles tiles;
    const size_t left = (size_t)blockIdx.x * 2 * PANEL, right = left + PANEL, expert = blockIdx.y;
    const size_t begin = offsets[expert], end = offsets[expert + 1];
    const bf16* weights = w2 + expert * inter * hidden;
    const bool packs = hidden % 8 == 0 && inter % 8 == 0 && aligned16(activated, w2);
    for (size_t top = begin; top < end; top += TILE_ROWS) {
        const size_t place = top + threadIdx.x / 4;
        const bf16* row = place < end ? activated + place * inter : nullptr;
        const TileSums sums = multiply_tile(tiles, row, weights, hidden, {left, hidden}, {right, hidden}, inter, packs);
        auto write = [&](int of_tile, int of_panel, float2 one, float2 other) {
            if (top + of_tile >= end) return;
            float* to = parts + order[top + of_tile] * hidden;
            const size_t column = left + of_panel;
            if (column < hidden) to[column] = one.x;
            if (column + 1 < hidden) to[column + 1] = one.y;
            if (column + PANEL < hidden) to[column + PANEL] = other.x;
            if (column + PANEL + 1 < hidden) to[column + PANEL + 1] = other.y;
        };
        each_pair(sums, write);
    }
}

// Adds the two rows of each token, times their weights. A block has a token.
extern "C" __global__ void combine(const float* __restrict__ parts, const float* __restrict__ weights, bf16* __restrict__ out,
                                   size_t hidden) {
    const size_t token = blockIdx.x;
    const float *one = parts + CHOICES * token * hidden, *other = one + hidden;
    const float first = weights[CHOICES * token], second = weights[CHOICES * token + 1];
    for (size_t column = threadIdx.x; column < hidden; column += blockDim.x) {
        out[token * hidden + column] = __float2bfloat16(first * one[column] + second * other[column]);
    }
}
// ANCHOR_END: kernels
