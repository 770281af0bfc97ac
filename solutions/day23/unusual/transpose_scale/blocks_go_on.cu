// 264 blocks go from tile to tile, with two barriers for each.
extern "C" __global__ void transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
    __shared__ float tile[32][33];
    const size_t down = (rows + 31) / 32, across = (columns + 31) / 32;
    for (size_t number = blockIdx.x; number < down * across; number += gridDim.x) {
        const size_t top = number / across * 32, left = number % across * 32;
        for (int r = threadIdx.y; r < 32; r += 8) {
            const size_t i = top + r, j = left + threadIdx.x;
            if (i < rows && j < columns) tile[r][threadIdx.x] = x[i * columns + j];
        }
        __syncthreads();
        for (int c = threadIdx.y; c < 32; c += 8) {
            const size_t i = top + threadIdx.x, j = left + c;
            if (i < rows && j < columns) out[j * rows + i] = s * tile[threadIdx.x][c];
        }
        __syncthreads();
    }
}
