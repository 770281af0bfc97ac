// A tile of a matrix product on tensor cores, for few rows of the left factor: what a block of
// 128 threads computes. From sm_80 up.
#pragma once
#include <cuda_bf16.h>
#include "async.cuh"
#include "tensor.cuh"

// ANCHOR: tile
const int TILE_THREADS = 128;
const int TILE_ROWS = 32; // Rows of the left factor.
const int PANEL = 64; // Columns of the right factor in a panel. A tile has two panels.
const int TILE_DEPTH = 32; // Terms that shared memory holds in a stage.
const int TILE_STAGES = 4;

// Columns of the right factor, from `first` on: 64 of them, or fewer where `end` comes sooner.
struct Panel {
    size_t first, end;
};

// A block's shared memory. Rows are 16 bytes longer than what they hold, for the banks.
struct Tiles {
    __nv_bfloat16 left[TILE_STAGES][TILE_ROWS][TILE_DEPTH + 8];
    __nv_bfloat16 right[TILE_STAGES][TILE_DEPTH][2 * PANEL + 8];
};

// A lane's part of the sums: 2 x 2 fragments of each panel.
struct TileSums {
    float at[2][2][2][4];
};
// ANCHOR_END: tile

// Starts to copy eight elements. Only the first `have` of them exist; the others become zeros.
// With PACKS one access can read all sixteen bytes, and all of them exist or none.
template <bool PACKS>
__device__ __forceinline__ void copy_eight(__nv_bfloat16* to, const __nv_bfloat16* from, long long have) {
    if (PACKS) {
        copy16_async(to, from, have > 0);
    } else {
#pragma unroll
        for (int j = 0; j < 8; j++) to[j] = j < have ? from[j] : __nv_bfloat16(0.0f);
    }
}

// Starts to fill a stage with the terms from `term` on. A thread has eight terms of the row that `row` points to, unless
// that is null.
template <bool PACKS>
__device__ __forceinline__ void fetch_tiles(Tiles& tiles, int stage, const __nv_bfloat16* row, const __nv_bfloat16* right,
                                            size_t columns, const Panel (&panels)[2], size_t term, size_t terms) {
    const size_t mine = term + threadIdx.x % 4 * 8;
    copy_eight<PACKS>(&tiles.left[stage][threadIdx.x / 4][threadIdx.x % 4 * 8], row ? row + mine : right,
                      row ? (long long)(terms - mine) : 0);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = threadIdx.x + i * TILE_THREADS, depth = at / 16, in_panel = at % 8 * 8;
        const Panel panel = at / 8 % 2 == 0 ? panels[0] : panels[1];
        const size_t column = panel.first + in_panel;
        const long long have = term + depth < terms ? (long long)(panel.end - column) : 0;
        const __nv_bfloat16* from = have > 0 ? right + (term + depth) * columns + column : right;
        copy_eight<PACKS>(&tiles.right[stage][depth][at % 16 * 8], from, have);
    }
}

// Adds the products of a stage. A warp has all rows, and of each panel 16 columns.
__device__ __forceinline__ void add_stage(TileSums& sums, const Tiles& tiles, int stage) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int inner = 0; inner < TILE_DEPTH; inner += 16) {
        unsigned left[2][4], right[2][4];
#pragma unroll
        for (int i = 0; i < 2; i++) load_matrices(left[i], &tiles.left[stage][16 * i + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
        for (int p = 0; p < 2; p++) {
            load_matrices_transposed(right[p], &tiles.right[stage][inner + lane % 16][PANEL * p + 16 * warp + lane / 16 * 8]);
        }
#pragma unroll
        for (int p = 0; p < 2; p++) {
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < 2; j++) multiply(sums.at[p][i][j], left[i], right[p][2 * j], right[p][2 * j + 1]);
            }
        }
    }
}

template <bool PACKS>
__device__ __forceinline__ void multiply_by_stages(TileSums& sums, Tiles& tiles, const __nv_bfloat16* row,
                                                   const __nv_bfloat16* right, size_t columns, const Panel (&panels)[2],
                                                   size_t terms) {
    const size_t steps = (terms + TILE_DEPTH - 1) / TILE_DEPTH;
    auto fetch = [&](size_t step) {
        if (step < steps) fetch_tiles<PACKS>(tiles, step % TILE_STAGES, row, right, columns, panels, step * TILE_DEPTH, terms);
        commit_copies();
    };
#pragma unroll
    for (int step = 0; step < TILE_STAGES - 1; step++) fetch(step);
    for (size_t step = 0; step < steps; step++) {
        wait_for_copies<TILE_STAGES - 2>();
        // All threads' copies of this step have come, and all warps are done with the step whose stage is filled next.
        __syncthreads();
        fetch(step + TILE_STAGES - 1);
        add_stage(sums, tiles, step % TILE_STAGES);
    }
    wait_for_copies<0>();
    __syncthreads();
}

// ANCHOR: multiply
// Multiplies 32 rows of `terms` elements by two panels of columns of the right factor. That has
// `terms` rows of `columns` elements. All threads of the block call this together. They may do
// so again.
//
// `row` is where row `threadIdx.x / 4` of the tile begins, or null if the tile has no such row.
// The rows may lie anywhere. `packs` says whether all rows of both factors, and both panels,
// begin and end at multiples of 16 bytes.
__device__ __forceinline__ TileSums multiply_tile(Tiles& tiles, const __nv_bfloat16* row,
                                                  const __nv_bfloat16* right, size_t columns,
                                                  Panel one, Panel other, size_t terms,
                                                  bool packs) {
    const Panel panels[2] = {one, other};
    TileSums sums = {};
    if (packs) {
        multiply_by_stages<true>(sums, tiles, row, right, columns, panels, terms);
    } else {
        multiply_by_stages<false>(sums, tiles, row, right, columns, panels, terms);
    }
    return sums;
}

// Calls `f(row, column, one, other)` for all sums of a lane. `one` and `other` are the sums of
// columns `column` and `column + 1` of the two panels, in row `row` of the tile.
template <typename F>
__device__ __forceinline__ void each_pair(const TileSums& sums, F f) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int row = 16 * i + 8 * half + lane / 4;
                const int column = 16 * warp + 8 * j + lane % 4 * 2;
                const float* one = &sums.at[0][i][j][2 * half];
                const float* other = &sums.at[1][i][j][2 * half];
                f(row, column, make_float2(one[0], one[1]), make_float2(other[0], other[1]));
            }
        }
    }
}
// ANCHOR_END: multiply
