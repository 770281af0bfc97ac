// Turns the matrix over in one launch, and scales it in the next.
extern "C" __global__ void transpose_scale(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float tile[32][33];
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int along = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8) {
        if (top + r < rows && left + along < columns) tile[r][along] = x[(top + r) * columns + left + along];
    }
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += 8) {
        if (top + along < rows && left + c < columns) out[(left + c) * rows + top + along] = tile[along][c];
    }
}

extern "C" __global__ void scale(float* out, float s, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] *= s;
}
