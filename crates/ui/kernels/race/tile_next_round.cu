// A tile is filled, met, and read in each round; what is missing is the barrier before the next round fills it.
// fail: E-RACE-SHARED
// launch: sums<<<1, 128>>>(x: f32[512], y: f32[128] uninit, n: i32 = 4)
extern "C" __global__ void sums(const float* x, float* y, int n) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        tile[t] = x[i * 128 + t];
        __syncthreads();
        sum += tile[t] - tile[127 - t];
    }
    y[t] = sum;
}
