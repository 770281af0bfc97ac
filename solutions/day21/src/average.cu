// average: out[i] = (x[i] + y[i]) / 2, all f32.
//
// Unfused, this is two launches:          bytes per element
//     add    sum = x + y                      12
//     scale  out = sum * 0.5                   8
// 20 bytes per element. One kernel can do it with 12: read x and y, write out.
//
// This is the first exercise. All that it needs is in "CUDA in thirty minutes", which is
// book/src/day21/first-kernel.md. Its second half is average.rs, beside this file.
//
// Grade it with: cargo xtask grade average

// ANCHOR: kernel
extern "C" __global__ void average(const float* x, const float* y, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = (x[i] + y[i]) / 2.0f;
    }
}
// ANCHOR_END: kernel
