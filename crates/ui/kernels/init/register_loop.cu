// A sum that begins with whatever the variable held.
// fail: E-UNINIT-REGISTER
// launch: sum<<<1, 32>>>(x: f32[256], n: i32 = 8, y: f32[32] uninit)
extern "C" __global__ void sum(const float* x, int n, float* y) {
    float total;
#pragma unroll 1
    for (int k = 0; k < n; k++) total += x[32 * k + threadIdx.x];
    y[threadIdx.x] = total;
}
