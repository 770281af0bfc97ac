// The barrier stands inside of the guard, and 96 elements are whole warps: the last warp goes around it and on to the store.
// fail: E-BARRIER-DIVERGENT
// launch: reverse<<<2, 64>>>(x: f32[96], y: f32[128] zero, n: i32 = 96)
extern "C" __global__ void reverse(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = 0.0f;
    if (i < n) {
        tile[t] = x[i];
        __syncthreads();
    }
    y[i] = tile[t];
}
