// The mistake stands in a lambda that is passed to a template.
// fail: E-OOB-GLOBAL
// launch: map<<<1, 64>>>(x: f32[60], y: f32[64] uninit)
template <class F>
__device__ __forceinline__ void each(float* y, F f) {
    y[threadIdx.x] = f(threadIdx.x);
}
extern "C" __global__ void map(const float* x, float* y) {
    each(y, [=](int i) { return x[i] * 2.0f; });
}
