// A reduction over 64 slots of which the last block's tail fills only some.
// fail: E-UNINIT-SHARED
// launch: sum<<<2, 64>>>(x: f32[100], out: f32[2] uninit, n: i32 = 100)
extern "C" __global__ void sum(const float* x, float* out, int n) {
    __shared__ float part[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i < n) part[t] = x[i];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
