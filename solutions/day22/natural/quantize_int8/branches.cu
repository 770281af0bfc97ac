// Two ifs for the clamp, in blocks of 512.
extern "C" __global__ void quantize_int8(const float* x, signed char* out, float scale, float zero_point, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = nearbyintf(x[i] / scale + zero_point);
        if (value > 127) {
            value = 127;
        } else if (value < -128) {
            value = -128;
        }
        out[i] = (signed char)value;
    }
}
