// Tiles of 16 x 16 with a thread for each element: half a warp has a row of it.
#define TILE 16

extern "C" __global__ void transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
    __shared__ float tile[TILE][TILE + 1];
    size_t i = (size_t)blockIdx.x * TILE + threadIdx.y;
    size_t j = (size_t)blockIdx.y * TILE + threadIdx.x;
    if (i < rows && j < columns) {
        tile[threadIdx.y][threadIdx.x] = s * x[i * columns + j];
    }
    __syncthreads();
    i = (size_t)blockIdx.x * TILE + threadIdx.x;
    j = (size_t)blockIdx.y * TILE + threadIdx.y;
    if (i < rows && j < columns) {
        out[j * rows + i] = tile[threadIdx.x][threadIdx.y];
    }
}
