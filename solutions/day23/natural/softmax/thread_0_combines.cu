// 128 threads per row, of which thread 0 combines what all have.
extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float shared[128];
    __shared__ float result;
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float largest = row[0];
    for (size_t c = t; c < columns; c += blockDim.x) {
        largest = fmaxf(largest, row[c]);
    }
    shared[t] = largest;
    __syncthreads();
    if (t == 0) {
        for (int j = 1; j < blockDim.x; j++) {
            largest = fmaxf(largest, shared[j]);
        }
        result = largest;
    }
    __syncthreads();
    largest = result;

    float sum = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        float e = expf(row[c] - largest);
        out[blockIdx.x * columns + c] = e;
        sum += e;
    }
    shared[t] = sum;
    __syncthreads();
    if (t == 0) {
        for (int j = 1; j < blockDim.x; j++) {
            sum += shared[j];
        }
        result = sum;
    }
    __syncthreads();
    for (size_t c = t; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] /= result;
    }
}
