// A float4 is read, and four bytes are written one by one.
__device__ signed char quantize(float x, float scale, float zero_point) {
    float value = rintf(x / scale + zero_point);
    value = fminf(fmaxf(value, -128.0f), 127.0f);
    return (signed char)value;
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first + 4 <= n) {
        float4 four = *(const float4*)(x + first);
        out[first] = quantize(four.x, scale, zero_point);
        out[first + 1] = quantize(four.y, scale, zero_point);
        out[first + 2] = quantize(four.z, scale, zero_point);
        out[first + 3] = quantize(four.w, scale, zero_point);
    } else {
        for (size_t i = first; i < n; i++) {
            out[i] = quantize(x[i], scale, zero_point);
        }
    }
}
