// A block of 512 per row with three trees in shared memory; the row is read four times.
extern "C" __global__ void layernorm_quant(const float* x, const float* gamma, const float* beta, signed char* q, float* scale, size_t rows, size_t columns) {
    __shared__ float shared[512];
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
    float deviation = sqrtf(shared[0] / columns + 1e-5f);
    __syncthreads();

    float largest = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        largest = fmaxf(largest, fabsf((row[c] - mean) / deviation * gamma[c] + beta[c]));
    }
    shared[t] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            shared[t] = fmaxf(shared[t], shared[t + half]);
        }
        __syncthreads();
    }
    float s = shared[0] / 127.0f;
    if (t == 0) {
        scale[blockIdx.x] = s;
    }

    for (size_t c = t; c < columns; c += blockDim.x) {
        float y = (row[c] - mean) / deviation * gamma[c] + beta[c];
        q[blockIdx.x * columns + c] = s == 0.0f ? 0 : (signed char)rintf(y / s);
    }
}
