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

// TODO(kernel): one block per tile of 32 x 32 elements, which goes through shared memory, so that neighbouring threads
// touch neighbouring elements both in x and in out.
//   - The block has 32 x 8 threads. `blockIdx.x` counts the tiles down the rows of x, `blockIdx.y` those along its
//     columns: the tile begins at row 32 * blockIdx.x and column 32 * blockIdx.y. Compute in `size_t`.
//   - `__shared__ float tile[32][33];` holds it. Each thread copies four elements of x into it, with threadIdx.x along
//     the row of x: rows threadIdx.y, threadIdx.y + 8, ... of the tile.
//   - `__syncthreads();` every thread reads what others wrote.
//   - Each thread writes four elements of out, with threadIdx.x along the row of out, which is a column of the tile.
//   - The last tiles of a row and of a column of tiles may be cut off: compare the row with rows and the column with
//     columns, on both sides of the barrier. No thread may leave before it.
//   - Why 33? The book has it under "Banks of shared memory". Try 32, and read what the grader says.
extern "C" __global__ void transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
}
// END TODO
