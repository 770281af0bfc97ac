// The tile in dynamic shared memory, turned over on the way in instead of on the way out.
extern "C" __global__ void transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
    extern __shared__ float tile[];
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int lane = threadIdx.x % 32;
    for (int r = threadIdx.x / 32; r < 32; r += 8) {
        if (top + r < rows && left + lane < columns) tile[33 * lane + r] = s * x[(top + r) * columns + left + lane];
    }
    __syncthreads();
    for (int c = threadIdx.x / 32; c < 32; c += 8) {
        if (top + lane < rows && left + c < columns) out[(left + c) * rows + top + lane] = tile[33 * c + lane];
    }
}
