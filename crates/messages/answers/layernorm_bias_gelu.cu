// layernorm_bias_gelu: gelu(layernorm(x) * gamma + beta + bias). A block has a row, in shared memory.

#include "activation.cuh"

extern "C" __global__ void layernorm_bias_gelu(const float* x, const float* gamma, const float* beta, const float* bias,
                                               float* out, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float part[256];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = x[c];
        sum += row[c];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    float mean = part[0] / columns;
    __syncthreads();

    float squares = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        squares += (row[c] - mean) * (row[c] - mean);
    }
    part[threadIdx.x] = squares;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    float scale = rsqrtf(part[0] / columns + 1e-5f);

    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = gelu_tanh((row[c] - mean) * scale * gamma[c] + beta[c] + bias[c]);
    }
}
