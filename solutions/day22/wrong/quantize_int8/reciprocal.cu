// wrong: values: multiplies by 1 / scale, which rounds twice and goes the other way next to a tie.
extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        float inverse = 1.0f / scale;
        out[i] = (signed char)max(-128, min(127, __float2int_rn(x[i] * inverse + zero_point)));
    }
}
