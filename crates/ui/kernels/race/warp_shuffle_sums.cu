// Each warp's sum goes to shared memory, and the first warp adds them up at once.
// fail: E-RACE-SHARED
// launch: sum<<<1, 128>>>(x: f32[128], out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float sums[4];
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x < 4) sums[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    if (threadIdx.x == 0) *out = sums[0] + sums[1] + sums[2] + sums[3];
}
