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

// ANCHOR: kernel
// A block has a tile of 32 x 32 elements and 32 x 8 threads: each thread moves four elements in, and four others out.
extern "C" __global__ void transpose_scale(const float* __restrict__ x, float* __restrict__ out, float s, size_t rows, size_t columns) {
    // With 33 floats in a row, the elements of a column are in different banks. With 32 they would all be in one.
    __shared__ float tile[32][33];
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int along = threadIdx.x;

    // Neighbouring threads have neighbouring columns of x.
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const int r = threadIdx.y + down;
        if (top + r < rows && left + along < columns) tile[r][along] = x[(top + r) * columns + left + along];
    }
    __syncthreads();

    // Neighbouring threads have neighbouring rows of x, which are neighbouring elements in a row of out.
#pragma unroll
    for (int down = 0; down < 32; down += 8) {
        const int c = threadIdx.y + down;
        if (top + along < rows && left + c < columns) out[(left + c) * rows + top + along] = s * tile[along][c];
    }
}
// ANCHOR_END: kernel
