// wrong: access: stores 4 bytes at a time, and loads 4.
__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 p = make_float4(x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]);
        ((char4*)out)[v] = make_char4(quantize(p.x, scale, zero_point), quantize(p.y, scale, zero_point),
                                      quantize(p.z, scale, zero_point), quantize(p.w, scale, zero_point));
    }
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = quantize(x[i], scale, zero_point);
    }
}
