// Numbers the tiles of all experts, and gives each block one: it looks for it in the offsets. The grid has as many as there may be at most.
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tile.cuh"

typedef __nv_bfloat16 bf16;

const int CHOICES = 2;

// The 32 rows of an expert that a tile has.
struct Tile {
    size_t expert, top, end;
};

// Tiles of all experts are numbered one after the other. There are fewer than the grid has blocks for: none is left for the last ones.
__device__ Tile find_tile(const int* offsets, size_t experts, size_t number) {
    for (size_t expert = 0; expert < experts; expert++) {
        const size_t begin = offsets[expert], end = offsets[expert + 1], tiles = (end - begin + TILE_ROWS - 1) / TILE_ROWS;
        if (number < tiles) return {expert, begin + number * TILE_ROWS, end};
        number -= tiles;
    }
    return {0, 0, 0};
}

// Writes silu(gate) * up of each slot of a tile.
extern "C" __global__ void __launch_bounds__(128)
    experts_up(const bf16* __restrict__ x, const bf16* __restrict__ w1, const int* __restrict__ order, const int* __restrict__ offsets,
               bf16* __restrict__ activated, size_t experts, size_t hidden, size_t inter) {
    __shared__ __align__(16) Tiles tiles;
    const size_t left = (size_t)blockIdx.y * PANEL;
    const Tile tile = find_tile(offsets, experts, blockIdx.x);
    const size_t expert = tile.expert, top = tile.top, end = tile.end;
    if (top >= end) return;
    const bf16* weights = w1 + expert * hidden * 2 * inter;
    const bool packs = hidden % 8 == 0 && inter % 8 == 0 && aligned16(x, w1);
    const size_t place = top + threadIdx.x / 4;
    const bf16* row = place < end ? x + order[place] / CHOICES * hidden : nullptr;
    const TileSums sums =
        multiply_tile(tiles, row, weights, 2 * inter, {left, inter}, {inter + left, 2 * inter}, hidden, packs);
    each_pair(sums, [&](int of_tile, int of_panel, float2 gate, float2 up) {
        if (top + of_tile >= end) return;
        bf16* to = activated + (top + of_tile) * inter;
        const size_t column = left + of_panel;
        if (column < inter) to[column] = __float2bfloat16(silu(gate.x) * up.x);
        if (column + 1 < inter) to[column + 1] = __float2bfloat16(silu(gate.y) * up.y);
    });
}

// Writes the results of a tile's slots, before their weights.
extern "C" __global__ void __launch_bounds__(128)
    experts_down(const bf16* __restrict__ activated, const bf16* __restrict__ w2, const int* __restrict__ order,
                 const int* __restrict__ offsets, float* __restrict__ parts, size_t experts, size_t hidden, size_t inter) {
    __shared__ __align__(16) Tiles tiles;
    const size_t left = (size_t)blockIdx.y * 2 * PANEL;
    const Tile tile = find_tile(offsets, experts, blockIdx.x);
    const size_t expert = tile.expert, top = tile.top, end = tile.end;
    if (top >= end) return;
    const bf16* weights = w2 + expert * inter * hidden;
    const bool packs = hidden % 8 == 0 && inter % 8 == 0 && aligned16(activated, w2);
    const size_t place = top + threadIdx.x / 4;
    const bf16* row = place < end ? activated + place * inter : nullptr;
    const TileSums sums =
        multiply_tile(tiles, row, weights, hidden, {left, hidden}, {left + PANEL, hidden}, inter, packs);
    each_pair(sums, [&](int of_tile, int of_panel, float2 one, float2 other) {
        if (top + of_tile >= end) return;
        float* to = parts + order[top + of_tile] * hidden;
        const size_t column = left + of_panel;
        if (column < hidden) to[column] = one.x;
        if (column + 1 < hidden) to[column + 1] = one.y;
        if (column + PANEL < hidden) to[column + PANEL] = other.x;
        if (column + PANEL + 1 < hidden) to[column + PANEL + 1] = other.y;
    });
}

// Adds the two rows of each token.
extern "C" __global__ void combine(const float* __restrict__ parts, const float* __restrict__ weights, bf16* __restrict__ out,
                                   size_t hidden) {
    const size_t token = blockIdx.x;
    const float *one = parts + CHOICES * token * hidden, *other = one + hidden;
    const float first = weights[CHOICES * token], second = weights[CHOICES * token + 1];
    for (size_t column = threadIdx.x; column < hidden; column += blockDim.x) {
        out[token * hidden + column] = __float2bfloat16(first * one[column] + second * other[column]);
    }
}
