// A grid-stride loop that does its first step before it asks.
// fail: E-OOB-GLOBAL
// launch: clamp<<<3, 128>>>(x: f32[300], y: f32[300] uninit, n: i32 = 300)
extern "C" __global__ void clamp(const float* x, float* y, int n) {
    int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        y[i] = fminf(x[i], 6.0f);
        i += stride;
    } while (i < n);
}
