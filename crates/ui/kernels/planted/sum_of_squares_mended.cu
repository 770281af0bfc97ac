// pass
// near: planted/sum_of_squares
// launch: sum_of_squares<<<16, 256>>>(x: f32[4096], total: f32[1] zero, n: i32 = 4096)
// The sum of squares: every block adds its part to the total.
// Blocks add atomically.
extern "C" __global__ void sum_of_squares(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] * x[i] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    __shared__ float parts[8];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++) sum += parts[w];
        atomicAdd(total, sum);
    }
}
