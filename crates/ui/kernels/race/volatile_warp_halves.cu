// Fewer lanes at each step, so that none overwrites what another reads, and __syncwarp between the steps.
// pass
// near: race/volatile_warp
// launch: k<<<2, 64>>>(x: f32[128], out: f32[2] uninit)
extern "C" __global__ void k(const float* x, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        volatile float* v = s;
        v[t] += v[t + 32]; __syncwarp();
        if (t < 16) v[t] += v[t + 16]; __syncwarp();
        if (t < 8) v[t] += v[t + 8]; __syncwarp();
        if (t < 4) v[t] += v[t + 4]; __syncwarp();
        if (t < 2) v[t] += v[t + 2]; __syncwarp();
        if (t < 1) v[t] += v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
