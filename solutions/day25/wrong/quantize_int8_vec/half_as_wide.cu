__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 2;
    for (size_t v = thread; v < vectors; v += threads) {
        float2 p = ((const float2*)x)[v];
        ((char2*)out)[v] = make_char2(quantize(p.x, scale, zero_point), quantize(p.y, scale, zero_point));
    }
    for (size_t i = 2 * vectors + thread; i < n; i += threads) {
        out[i] = quantize(x[i], scale, zero_point);
    }
}
