// Threads past the end put a zero into their slot.
// pass
// near: init/shared_tail
// launch: sum<<<2, 64>>>(x: f32[100], out: f32[2] uninit, n: i32 = 100)
extern "C" __global__ void sum(const float* x, float* out, int n) {
    __shared__ float part[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    part[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
