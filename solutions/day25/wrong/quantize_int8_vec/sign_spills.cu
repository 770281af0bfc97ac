// wrong: values: packs the four bytes by shifts without masking: the sign of a negative element fills those above.
__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t vectors = n / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        float4 p = ((const float4*)x)[v];
        int packed = quantize(p.x, scale, zero_point);
        packed |= quantize(p.y, scale, zero_point) << 8;
        packed |= quantize(p.z, scale, zero_point) << 16;
        packed |= quantize(p.w, scale, zero_point) << 24;
        ((int*)out)[v] = packed;
    }
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = quantize(x[i], scale, zero_point);
    }
}
