// Rows are shared out by warps, and the second warp has one row less: it leaves the loop early, and stores what it has.
// fail: E-BARRIER-DIVERGENT
// launch: sums<<<1, 64>>>(x: f32[160], y: f32[64] uninit, n: i32 = 160)
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
