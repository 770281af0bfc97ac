// The last steps of a reduction, as they were written before Volta: volatile, and no __syncwarp.
// fail: W-WARP-SYNCHRONOUS
// launch: sum<<<2, 64>>>(x: f32[256], out: f32[2] uninit)
__device__ void warp_reduce(volatile float* s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 128 + t] + x[blockIdx.x * 128 + 64 + t];
    __syncthreads();
    if (t < 32) warp_reduce(part, t);
    if (t == 0) out[blockIdx.x] = part[0];
}
