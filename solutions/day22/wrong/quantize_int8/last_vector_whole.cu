// wrong: fault E-OOB-GLOBAL: rounds n up to whole float4s: the last one reads past the end.
__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < (n + 3) / 4; i += threads) {
        float4 v = ((const float4*)x)[i];
        ((char4*)out)[i] = make_char4(quantize(v.x, scale, zero_point), quantize(v.y, scale, zero_point),
                                      quantize(v.z, scale, zero_point), quantize(v.w, scale, zero_point));
    }
}
