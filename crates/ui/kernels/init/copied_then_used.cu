// The values are copied twice before someone uses them.
// fail: E-UNINIT-GLOBAL
// launch: copy<<<1, 32>>>(a: f32[32] uninit, b: f32[32] uninit)
// launch: scale<<<1, 32>>>(b, out: f32[32] uninit)
extern "C" __global__ void copy(const float* a, float* b) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void scale(const float* b, float* out) {
    out[threadIdx.x] = b[threadIdx.x] > 0.5f ? 1.0f : 0.0f;
}
