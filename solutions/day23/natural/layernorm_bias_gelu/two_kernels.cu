// The layer norm with bias is one kernel, and GELU another.
extern "C" __global__ void layernorm_bias(const float* x, const float* gamma, const float* beta, const float* bias, float* out, size_t rows, size_t columns) {
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
        float normalized = (row[c] - mean) / sqrtf(variance + 1e-5f);
        out[blockIdx.x * columns + c] = normalized * gamma[c] + beta[c] + bias[c];
    }
}

extern "C" __global__ void activate(float* out, size_t rows, size_t columns) {
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        float t = out[blockIdx.x * columns + c];
        out[blockIdx.x * columns + c] = 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
    }
}
