// Two kernels, one after the other: the sum of each block, then the sum of these sums.
//
// play: n = 4096
// play: x = f32[n] 1
// play: sums = f32[n / 256], print all
// play: total = f32[1], print all
// play: block_sums<<<n / 256, 256>>>(x, sums)
// play: add_up<<<1, 1>>>(sums, total, n / 256)

__global__ void block_sums(const float* x, float* sums) {
    __shared__ float part[256];
    part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = part[0];
    }
}

__global__ void add_up(const float* sums, float* total, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum += sums[i];
    }
    total[0] = sum;
}
