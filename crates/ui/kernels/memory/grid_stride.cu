// The loop that asks first.
// pass
// near: memory/grid_stride_late_guard
// launch: clamp<<<3, 128>>>(x: f32[300], y: f32[300] uninit, n: i32 = 300)
extern "C" __global__ void clamp(const float* x, float* y, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = fminf(x[i], 6.0f);
    }
}
