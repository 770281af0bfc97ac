// The smallest of a thread's candidates, of which the first was never set.
// fail: E-UNINIT-LOCAL
// launch: smallest<<<1, 32>>>(x: f32[256], count: i32 = 8, y: f32[32] uninit)
extern "C" __global__ void smallest(const float* x, int count, float* y) {
    float best[16];
#pragma unroll 1
    for (int k = 1; k < count; k++) best[k] = x[8 * threadIdx.x + k];
    int at = 0;
#pragma unroll 1
    for (int k = 1; k < count; k++) if (best[k] < best[at]) at = k;
    y[threadIdx.x] = at;
}
