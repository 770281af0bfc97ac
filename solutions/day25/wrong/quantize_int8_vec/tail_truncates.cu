// wrong: values: rounds in the vectors, and truncates in the tail.
__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 p = ((const float4*)x)[v];
        ((char4*)out)[v] = make_char4(quantize(p.x, scale, zero_point), quantize(p.y, scale, zero_point),
                                      quantize(p.z, scale, zero_point), quantize(p.w, scale, zero_point));
    }
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = (signed char)max(-128, min(127, (int)(x[i] / scale + zero_point)));
    }
}
