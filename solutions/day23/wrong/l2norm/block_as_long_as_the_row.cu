extern "C" __global__ void l2norm(const float* x, float* out, size_t columns) {
    __shared__ float sums[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c] * x[c];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int warp = 0; warp < (blockDim.x + 31) / 32; warp++) sum += sums[warp];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = x[c] / (sqrtf(sum) + 1e-12f);
}
