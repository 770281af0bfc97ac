// The last step adds as many sums as there are warps.
// pass
// near: init/shared_warp_sums
// launch: sum<<<1, 128>>>(x: f32[128], out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float sums[32];
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < blockDim.x / 32; w++) total += sums[w];
        *out = total;
    }
}
