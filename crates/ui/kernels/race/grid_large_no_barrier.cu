// Block 4150 leaves out the barrier between what its two warps write and what they read of each other.
// fail: E-RACE-SHARED
// launch: exchange<<<4200, 64>>>(count: u32[1] zero, y: f32[64] zero)
extern "C" __global__ void exchange(unsigned* count, float* y) {
    __shared__ unsigned before;
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t == 0) {
        __threadfence();
        before = atomicAdd(count, 1);
        __threadfence();
    }
    __syncthreads();
    tile[t] = t + before;
    if (blockIdx.x != 4150) __syncthreads();
    if (tile[t ^ 33] < 0.0f) y[t] = 1.0f;
}
