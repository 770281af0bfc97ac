// A matrix turned over and scaled, from naive to fast: out[j, i] = s * x[i, j], all f32. x is rows x columns, row after row.
// A block of 32 x 8 threads has a tile of 32 x 32 elements: blockIdx.x counts the tiles down the rows, blockIdx.y those along the
// columns.
//
//     transpose_scale_naive      no shared memory: loads are neighbouring, stores are `rows` elements apart
//     transpose_scale_tile       through a tile of 32 x 32 in shared memory, whose columns lie in one bank
//     transpose_scale_padded     the same with 33 floats in a row of the tile
//     transpose_scale_swizzled   32 floats in a row, but each row in another order
//     transpose_scale_ahead      the same, and a thread's four loads are under way before the first is waited for

// ANCHOR: naive
extern "C" __global__ void transpose_scale_naive(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    const size_t top = (size_t)blockIdx.x * 32, column = (size_t)blockIdx.y * 32 + threadIdx.x;
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const size_t row = top + threadIdx.y + down;
        if (row < rows && column < columns) out[column * rows + row] = s * x[row * columns + column];
    }
}
// ANCHOR_END: naive

// ANCHOR: through
// Where an element of the tile lies in shared memory.
template <typename Place>
__device__ void through(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns, float* tile, Place place) {
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int along = threadIdx.x;
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const int r = threadIdx.y + down;
        if (top + r < rows && left + along < columns) tile[place(r, along)] = x[(top + r) * columns + left + along];
    }
    __syncthreads();
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const int c = threadIdx.y + down;
        if (top + along < rows && left + c < columns) out[(left + c) * rows + top + along] = s * tile[place(along, c)];
    }
}
// ANCHOR_END: through

// ANCHOR: tile
extern "C" __global__ void transpose_scale_tile(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32 * 32];
    through(x, out, s, rows, columns, tile, [](int r, int c) { return 32 * r + c; });
}
// ANCHOR_END: tile

// ANCHOR: padded
extern "C" __global__ void transpose_scale_padded(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32 * 33];
    through(x, out, s, rows, columns, tile, [](int r, int c) { return 33 * r + c; });
}
// ANCHOR_END: padded

// ANCHOR: swizzled
extern "C" __global__ void transpose_scale_swizzled(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32 * 32];
    through(x, out, s, rows, columns, tile, [](int r, int c) { return 32 * r + (c ^ r); });
}
// ANCHOR_END: swizzled

// ANCHOR: ahead
extern "C" __global__ void transpose_scale_ahead(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32 * 32];
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int along = threadIdx.x, first = threadIdx.y;
    float value[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const size_t row = top + first + 8 * j;
        value[j] = row < rows && left + along < columns ? x[row * columns + left + along] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < 4; j++) tile[32 * (first + 8 * j) + (along ^ (first + 8 * j))] = value[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int c = first + 8 * j;
        if (top + along < rows && left + c < columns) out[(left + c) * rows + top + along] = s * tile[32 * along + (c ^ along)];
    }
}
// ANCHOR_END: ahead
