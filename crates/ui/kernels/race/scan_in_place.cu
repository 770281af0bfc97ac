// An inclusive scan that reads its neighbour's slot while the neighbour writes it.
// fail: E-RACE-SHARED
// launch: scan<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void scan(const float* x, float* y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        if (t >= d) s[t] += s[t - d];
    }
    y[t] = s[t];
}
