// All lanes read the same word: that is one access.
// pass
// near: performance/bank_stride
// checks: performance
// launch: weigh<<<8, 64>>>(x: f32[512], w: f32[64], y: f32[512] uninit)
extern "C" __global__ void weigh(const float* x, const float* w, float* y) {
    __shared__ float weights[64];
    int t = threadIdx.x;
    weights[t] = w[t];
    __syncthreads();
    float v = x[blockIdx.x * 64 + t], sum = 0.0f;
    for (int k = 0; k < 64; k++) sum += v * weights[k];
    y[blockIdx.x * 64 + t] = sum;
}
