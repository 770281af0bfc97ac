// A loop with a barrier that half of the first warp leaves one round earlier, to store what it has.
// fail: E-BARRIER-DIVERGENT
// launch: sums<<<1, 64>>>(x: f32[144], y: f32[64] uninit, n: i32 = 144)
extern "C" __global__ void sums(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < n; i += 64) {
        tile[t] = x[i];
        __syncthreads();
        sum += tile[t ^ 1];
        __syncthreads();
    }
    y[t] = sum;
}
