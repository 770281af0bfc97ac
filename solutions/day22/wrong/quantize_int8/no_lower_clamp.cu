// wrong: values: no clamp at the lower end: -129 wraps around to 127.
extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n; i += threads) {
        out[i] = (signed char)min(127, __float2int_rn(x[i] / scale + zero_point));
    }
}
