// __syncwarp between each read and write.
// pass
// near: race/volatile_warp
// launch: sum<<<2, 64>>>(x: f32[256], out: f32[2] uninit)
__device__ void warp_reduce(volatile float* s, int t) {
    float v = s[t] + s[t + 32];
    for (int d = 16; d > 0; d /= 2) {
        __syncwarp();
        s[t] = v;
        __syncwarp();
        v += s[t + d];
    }
    __syncwarp();
    s[t] = v;
}
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 128 + t] + x[blockIdx.x * 128 + 64 + t];
    __syncthreads();
    if (t < 32) warp_reduce(part, t);
    if (t == 0) out[blockIdx.x] = part[0];
}
