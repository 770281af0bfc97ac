// A block of 32 x 32 threads per tile, one element for each; the grid has the columns along x.
extern "C" __global__ void transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32][33];
    size_t column = (size_t)blockIdx.x * 32 + threadIdx.x;
    size_t row = (size_t)blockIdx.y * 32 + threadIdx.y;
    if (row < rows && column < columns) {
        tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
    }
    __syncthreads();
    column = (size_t)blockIdx.y * 32 + threadIdx.x;
    row = (size_t)blockIdx.x * 32 + threadIdx.y;
    if (row < columns && column < rows) {
        out[row * rows + column] = s * tile[threadIdx.x][threadIdx.y];
    }
}
