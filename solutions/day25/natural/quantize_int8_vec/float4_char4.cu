// A float4 and a char4 per thread, with a division for each element.
__device__ signed char quantize(float x, float scale, float zero_point) {
    float value = rintf(x / scale + zero_point);
    value = fminf(fmaxf(value, -128.0f), 127.0f);
    return (signed char)value;
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        float4 four = ((const float4*)x)[v];
        char4 result;
        result.x = quantize(four.x, scale, zero_point);
        result.y = quantize(four.y, scale, zero_point);
        result.z = quantize(four.z, scale, zero_point);
        result.w = quantize(four.w, scale, zero_point);
        ((char4*)out)[v] = result;
    }
    if (v == 0) {
        for (size_t i = n / 4 * 4; i < n; i++) {
            out[i] = quantize(x[i], scale, zero_point);
        }
    }
}
