// The fused quantizer of the lesson, and one that is nearly right.

// ANCHOR: quantize
extern "C" __global__ void fake_quantize(const float* x, float* out, float scale, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float level = rintf(x[i] / scale);                   // half to even
        out[i] = fminf(fmaxf(level, -127.0f), 127.0f) * scale;
    }
}
// ANCHOR_END: quantize

// ANCHOR: x4
__device__ __forceinline__ float there_and_back(float x, float scale) {
    return fminf(fmaxf(rintf(x / scale), -127.0f), 127.0f) * scale;
}

// Four elements per thread, which are 16 bytes: one load, one store.
extern "C" __global__ void fake_quantize_x4(const float* x, float* out, float scale, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread < n / 4) {
        const float4 v = ((const float4*)x)[thread];
        ((float4*)out)[thread] = make_float4(there_and_back(v.x, scale), there_and_back(v.y, scale),
                                             there_and_back(v.z, scale), there_and_back(v.w, scale));
    }
    // The tail: at most three elements that fill no float4.
    const size_t i = n / 4 * 4 + thread;
    if (i < n) out[i] = there_and_back(x[i], scale);
}
// ANCHOR_END: x4

// ANCHOR: reciprocal
extern "C" __global__ void fake_quantize_reciprocal(const float* x, float* out, float scale, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float inverse = 1.0f / scale;                            // rounded once here,
    if (i < n) {
        float level = rintf(x[i] * inverse);                 // and again here: off by a step next to ties
        out[i] = fminf(fmaxf(level, -127.0f), 127.0f) * scale;
    }
}
// ANCHOR_END: reciprocal
