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

// ANCHOR: x16
// Sixteen elements a thread: four 16-byte loads are under way before the first is used, and each
// four results leave as one 4-byte store.
__device__ __forceinline__ signed char quantize_one(float x, float scale, float zero_point) {
    float v = rintf(x / scale + zero_point);
    return (signed char)fminf(fmaxf(v, -128.0f), 127.0f);
}

extern "C" __global__ void quantize_int8_x16(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    const size_t vectors = n / 4;
    const size_t first = (size_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    float4 loaded[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        size_t v = first + j * blockDim.x;
        if (v < vectors) loaded[j] = ((const float4*)x)[v];
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        size_t v = first + j * blockDim.x;
        if (v < vectors) {
            ((char4*)out)[v] = make_char4(
                quantize_one(loaded[j].x, scale, zero_point), quantize_one(loaded[j].y, scale, zero_point),
                quantize_one(loaded[j].z, scale, zero_point), quantize_one(loaded[j].w, scale, zero_point));
        }
    }
    // The tail: at most three elements that fill no float4.
    size_t i = 4 * vectors + (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = quantize_one(x[i], scale, zero_point);
}
// ANCHOR_END: x16

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
