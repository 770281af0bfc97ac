// l2norm: x / (sqrt(sum of x^2) + 1e-12), for every row of x. A block has a row; its warps add up by shuffles.

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(0xffffffff, value, distance);
    }
    return value;
}

extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float parts[32];
    __shared__ float total;
    const float* row = x + blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        sum += row[c] * row[c];
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0.0f;
        sum = sum_of_warp(sum);
        if (threadIdx.x == 0) {
            total = sum;
        }
    }
    __syncthreads();

    float factor = 1.0f / (sqrtf(total) + 1e-12f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = row[c] * factor;
    }
}
