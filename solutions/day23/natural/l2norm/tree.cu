// A block of 256 per row, and a tree of sums in shared memory.
extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sums[256];
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        sum += row[c] * row[c];
    }
    sums[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            sums[t] += sums[t + half];
        }
        __syncthreads();
    }

    float length = sqrtf(sums[0]) + 1e-12f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = row[c] / length;
    }
}
