// The usual block reduction: shuffles in the warps, a barrier, shuffles over the warps' sums.
// pass
// near: race/warp_shuffle_sums
// launch: sum<<<2, 128>>>(x: f32[256], out: f32[2] uninit)
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float sums[32];
    int t = threadIdx.x, lane = t % 32;
    float v = x[blockIdx.x * 128 + t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (lane == 0) sums[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = lane < 4 ? sums[lane] : 0.0f;
        for (int d = 2; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
        if (lane == 0) out[blockIdx.x] = v;
    }
}
