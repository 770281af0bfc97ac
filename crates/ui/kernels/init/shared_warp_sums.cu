// Four warps write their sums, and the last step adds eight.
// fail: E-UNINIT-SHARED
// launch: sum<<<1, 128>>>(x: f32[128], out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float sums[32];
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < 8; w++) total += sums[w];
        *out = total;
    }
}
