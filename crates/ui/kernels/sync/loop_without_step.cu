// The step of a grid-stride loop is zero: gridDim / blockDim instead of their product.
// fail: E-BUDGET
// launch: scale<<<2, 32>>>(x: f32[128], y: f32[128] zero, n: i32 = 128)
extern "C" __global__ void scale(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x / blockDim.x) {
        atomicAdd(&y[i], x[i]);
    }
}
