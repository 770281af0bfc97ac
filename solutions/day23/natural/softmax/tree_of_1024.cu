// A block of 1,024 per row with two trees in shared memory; the row is read three times.
extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float shared[1024];
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float largest = row[0];
    for (size_t c = t; c < columns; c += blockDim.x) {
        largest = fmaxf(largest, row[c]);
    }
    shared[t] = largest;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            shared[t] = fmaxf(shared[t], shared[t + half]);
        }
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        sum += expf(row[c] - largest);
    }
    shared[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            shared[t] += shared[t + half];
        }
        __syncthreads();
    }
    sum = shared[0];

    for (size_t c = t; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = expf(row[c] - largest) / sum;
    }
}
