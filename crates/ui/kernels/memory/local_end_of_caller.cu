// A function writes one past the end of an array that its caller has passed to it.
// fail: E-OOB-LOCAL
// launch: top<<<1, 4>>>(x: f32[16], n: i32 = 7, y: f32[4] uninit)
__device__ __noinline__ void take(const float* x, float* kept, int n) {
    for (int k = 0; k < n; k++) kept[k] = x[k];
}
extern "C" __global__ void top(const float* x, int n, float* y) {
    float kept[6];
    take(x, kept, n);
    y[threadIdx.x] = kept[threadIdx.x];
}
