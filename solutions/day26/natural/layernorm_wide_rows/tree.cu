// A block of 256 per row with two trees in shared memory; the row is read three times.
extern "C" __global__ void layernorm_wide_rows(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    __shared__ float shared[256];
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        sum += row[c];
    }
    shared[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            shared[t] += shared[t + half];
        }
        __syncthreads();
    }
    float mean = shared[0] / columns;
    __syncthreads();

    float squares = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        squares += (row[c] - mean) * (row[c] - mean);
    }
    shared[t] = squares;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            shared[t] += shared[t + half];
        }
        __syncthreads();
    }
    float variance = shared[0] / columns;

    for (size_t c = t; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = (row[c] - mean) / sqrtf(variance + 1e-5f) * gamma[c] + beta[c];
    }
}
