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

// TODO(kernel): write the body, for one thread and one element.
//   1. `i`, the number of this thread among all threads of the grid, from `blockIdx.x`,
//      `blockDim.x` and `threadIdx.x`. It is a `size_t`.
//   2. Where `i` is less than `n`, and only there, write `out[i]`.
// Write constants as 2.0f: without the f, C++ computes in double precision.
extern "C" __global__ void average(const float* x, const float* y, float* out, size_t n) {
}
// END TODO
