// fail: E-UNINIT-SHARED
// launch: row_norm<<<4, 96>>>(x: f32[384], y: f32[384] uninit)
// Divides rows of 96 by their norm: each warp sums its part, the first warp sums the warps' parts.
extern "C" __global__ void row_norm(const float* x, float* y) {
    __shared__ float parts[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float value = x[i];
    float sum = value * value;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) parts[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = parts[lane];
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (lane == 0) parts[0] = sum;
    }
    __syncthreads();
    y[i] = value * rsqrtf(parts[0]);
}
