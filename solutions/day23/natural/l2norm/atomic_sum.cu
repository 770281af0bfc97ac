// 1,024 threads per row add to one word of shared memory.
extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sum;
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    if (t == 0) {
        sum = 0.0f;
    }
    __syncthreads();
    float mine = 0.0f;
    for (size_t c = t; c < columns; c += blockDim.x) {
        mine += row[c] * row[c];
    }
    atomicAdd(&sum, mine);
    __syncthreads();
    for (size_t c = t; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = row[c] / (sqrtf(sum) + 1e-12f);
    }
}
