// The fused quantizer of the lesson, and one that is nearly right.

// ANCHOR: quantize
extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = rintf(x[i] / scale + zero_point);   // half to even
        v = fminf(fmaxf(v, -128.0f), 127.0f);         // clamp before the cast
        out[i] = (signed char)v;
    }
}
// ANCHOR_END: quantize

// ANCHOR: reciprocal
extern "C" __global__ void quantize_reciprocal(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float inverse = 1.0f / scale;                     // rounded once here,
    if (i < n) {
        float v = rintf(x[i] * inverse + zero_point); // and again here: off by a step next to ties
        v = fminf(fmaxf(v, -128.0f), 127.0f);
        out[i] = (signed char)v;
    }
}
// ANCHOR_END: reciprocal
