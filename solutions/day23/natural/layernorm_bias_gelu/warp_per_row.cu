// A warp per row, eight of them in a block; the row is read three times.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

__device__ float add_up(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void layernorm_bias_gelu(const float* x, const float* gamma, const float* beta, const float* bias, float* out, size_t rows, size_t columns) {
    size_t r = (size_t)blockIdx.x * 8 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) {
        return;
    }
    const float* row = x + r * columns;
    float sum = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        sum += row[c];
    }
    float mean = add_up(sum) / columns;
    float squares = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        squares += (row[c] - mean) * (row[c] - mean);
    }
    float variance = add_up(squares) / columns;
    for (size_t c = lane; c < columns; c += 32) {
        float normalized = (row[c] - mean) / sqrtf(variance + 1e-5f);
        out[r * columns + c] = gelu(normalized * gamma[c] + beta[c] + bias[c]);
    }
}
