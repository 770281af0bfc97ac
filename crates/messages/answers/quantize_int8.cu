// quantize_int8: an int8 for each float, one element per thread.

extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float q = rintf(x[i] / scale + zero_point);
        q = fminf(fmaxf(q, -128.0f), 127.0f);
        out[i] = (signed char)q;
    }
}
