// transpose_scale: out[j, i] = s * x[i, j], all f32: a matrix turned over, and every element times a factor.
//
// x is `rows` x `columns`, row after row, so that out is `columns` x `rows`, row after row: x[i, j] is
// x[i * columns + j], and out[j, i] is out[j * rows + i].
//
// Unfused, this is two launches:                               bytes per element
//     transpose   turned[j, i] = x[i, j]                               8
//     scale       out = s * turned                                     8
// 16 bytes per element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade transpose_scale

#include "pack.cuh"

// ANCHOR: kernel
// A block has a tile of 64 x 64 elements and 256 threads, each of which loads and stores four packs of four floats. The launch
// sees to it that rows and columns are multiples of four, and that both buffers are aligned.
extern "C" __global__ void __launch_bounds__(256)
    transpose_scale_packs(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    // Of row r, pack p is at p ^ (r / 4 % 8): an element of eight rows that are four apart is in eight different groups of
    // four banks. Padding would move packs away from multiples of 16 bytes.
    __shared__ Pack<float> tile[64][16];
    const size_t top = (size_t)blockIdx.x * 64, left = (size_t)blockIdx.y * 64;

    // Sixteen threads have a row of the tile, 256 bytes of x. All loads are under way before the first store.
    const int p = threadIdx.x % 16, r = threadIdx.x / 16;
    Pack<float> in[4] = {};
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t row = top + r + 16 * j;
        if (row < rows && left + 4 * p < columns) in[j].bits = ((const uint4*)x)[(row * columns + left) / 4 + p];
    }
#pragma unroll
    for (int j = 0; j < 4; j++) tile[r + 16 * j][p ^ (r + 16 * j) / 4 % 8] = in[j];

    // Eight lanes have 128 bytes of a row of out: each takes four elements below each other from the tile. A warp has four rows.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int below = 4 * (lane % 8 + 8 * (warp % 2));
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int c = lane / 8 + 4 * (warp / 2) + 16 * j;
        Pack<float> turned;
#pragma unroll
        for (int i = 0; i < 4; i++) turned.at[i] = s * tile[below + i][c / 4 ^ below / 4 % 8].at[c % 4];
        if (top + below < rows && left + c < columns) ((uint4*)out)[((left + c) * rows + top + below) / 4] = turned.bits;
    }
}
// ANCHOR_END: kernel

// Any matrix: tiles of 32 x 32, element by element.
extern "C" __global__ void __launch_bounds__(256)
    transpose_scale_any(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32][33];
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int along = threadIdx.x % 32;
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const int r = threadIdx.x / 32 + down;
        if (top + r < rows && left + along < columns) tile[r][along] = x[(top + r) * columns + left + along];
    }
    __syncthreads();
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const int c = threadIdx.x / 32 + down;
        if (top + along < rows && left + c < columns) out[(left + c) * rows + top + along] = s * tile[along][c];
    }
}
