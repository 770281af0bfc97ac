// Two stages of tiles; the loop begins with the second one, which is loaded last.
// fail: E-UNINIT-SHARED
// launch: stages<<<1, 32>>>(x: f32[128], y: f32[32] uninit)
extern "C" __global__ void stages(const float* x, float* y) {
    __shared__ float tile[2][32];
    int t = threadIdx.x;
    float sum = 0.0f;
    tile[0][t] = x[t];
    for (int k = 1; k < 4; k++) {
        __syncthreads();
        sum += tile[k & 1][31 - t];
        __syncthreads();
        tile[k & 1][t] = x[32 * k + t];
    }
    y[t] = sum;
}
