#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
    __shared__ float tile[TILE][TILE + 1];
    size_t column = (size_t)blockIdx.x * TILE + threadIdx.x;
    size_t row = (size_t)blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (row + j < rows && column < columns) {
            tile[threadIdx.y + j][threadIdx.x] = x[(row + j) * columns + column];
        }
    }
    __syncthreads();
    column = (size_t)blockIdx.y * TILE + threadIdx.x;
    row = (size_t)blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (row + j < columns && column < rows) {
            out[(row + j) * rows + column] = s * tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
