// Each thread has eight elements, one behind the other.
__device__ signed char quantize(float x, float scale, float zero_point) {
    float value = rintf(x / scale + zero_point);
    value = fminf(fmaxf(value, -128.0f), 127.0f);
    return (signed char)value;
}

extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (size_t i = first; i < first + 8 && i < n; i++) {
        out[i] = quantize(x[i], scale, zero_point);
    }
}
