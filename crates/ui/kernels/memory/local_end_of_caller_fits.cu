// The function writes as many elements as the array of its caller has.
// pass
// near: memory/local_end_of_caller
// launch: top<<<1, 4>>>(x: f32[16], n: i32 = 6, y: f32[4] uninit)
__device__ __noinline__ void take(const float* x, float* kept, int n) {
    for (int k = 0; k < n; k++) kept[k] = x[k];
}
extern "C" __global__ void top(const float* x, int n, float* y) {
    float kept[6];
    take(x, kept, n);
    y[threadIdx.x] = kept[threadIdx.x];
}
