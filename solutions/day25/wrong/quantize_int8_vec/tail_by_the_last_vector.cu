// wrong: fault E-OOB-GLOBAL: rounds n up to whole float4s: the last one reads past the end.
__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = (n + 3) / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 p = ((const float4*)x)[v];
        ((char4*)out)[v] = make_char4(quantize(p.x, scale, zero_point), quantize(p.y, scale, zero_point),
                                      quantize(p.z, scale, zero_point), quantize(p.w, scale, zero_point));
    }
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = quantize(x[i], scale, zero_point);
    }
}
