// Read, barrier, write, barrier.
// pass
// near: race/scan_in_place
// launch: scan<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void scan(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        float left = t >= d ? s[t - d] : 0.0f;
        __syncthreads();
        s[t] += left;
    }
    y[t] = s[t];
}
