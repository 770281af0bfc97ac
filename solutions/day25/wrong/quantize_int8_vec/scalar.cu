// wrong: access: the scalar fused kernel itself: a load of 4 bytes, a store of 1.
__device__ signed char quantize(float x, float scale, float zero_point) {
    return (signed char)max(-128, min(127, __float2int_rn(x / scale + zero_point)));
}

extern "C" __global__ void quantize_int8_vec(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        out[i] = quantize(x[i], scale, zero_point);
    }
}
