// A warp per row, eight of them in a block; the row is read four times.
__device__ float add_up(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffff, value, offset);
    }
    return value;
}

extern "C" __global__ void layernorm_quant(const float* x, const float* gamma, const float* beta, signed char* q, float* scale, size_t rows, size_t columns) {
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
    float deviation = sqrtf(add_up(squares) / columns + 1e-5f);
    float largest = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        largest = fmaxf(largest, fabsf((row[c] - mean) / deviation * gamma[c] + beta[c]));
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    float s = largest / 127.0f;
    if (lane == 0) {
        scale[r] = s;
    }
    for (size_t c = lane; c < columns; c += 32) {
        float y = (row[c] - mean) / deviation * gamma[c] + beta[c];
        q[r * columns + c] = s == 0.0f ? 0 : (signed char)rintf(y / s);
    }
}
