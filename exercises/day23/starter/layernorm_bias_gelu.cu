// layernorm_bias_gelu: out = gelu(normalised * gamma + beta + bias), all f32, where for every row of x
//     normalised = (x - mean) / sqrt(variance + 1e-5)
// with the mean of the row and its variance: the mean of (x - mean)^2, over all of the row's elements. GELU is
// the tanh form: gelu(t) = 0.5 t (1 + tanh(sqrt(2/pi) (t + 0.044715 t^3))), which "activation.cuh" has.
//
// x and out are `rows` x `columns`, row after row; gamma, beta and bias have an element for each column.
//
// Unfused, this is three launches:                             bytes per element
//     layernorm     norm = normalised * gamma + beta                   8
//     add_to_rows   biased = norm + bias                               8
//     gelu          out = gelu(biased)                                 8
// 24 bytes per element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade layernorm_bias_gelu

// TODO(kernel): one block per row, and the row on chip, so that x is read once.
//   - `extern __shared__ float row[];` is as much shared memory as the launch asks for: room for the row. Each thread
//     loads every blockDim.x-th element into it.
//   - The block's threads find the mean together, then the variance from what they hold. `#include "reduce.cuh"`
//     (kernels/include/reduce.cuh) has reduce_block(value, partial, none, Sum()), which gives the result to every
//     thread. `partial` is a `__shared__ float[32]`, another one for each reduction; `none` is what changes no
//     result: 0. Every thread must call it.
//   - The mean of the squares minus the square of the mean is the variance only in exact arithmetic: in f32 a row
//     that lies far from zero loses all of it.
//   - Each thread writes its share: `#include "activation.cuh"` gives you gelu_tanh. What is past the end of the row
//     must neither be read nor counted.
//   - With loops over ints, `int c`, `int length = columns`, `int threads = blockDim.x`, the compiler knows how often
//     they turn, and `#pragma unroll 8` before the one that loads has eight loads under way at once.
// When it passes: a row also has room in registers, and a thread can move 16 bytes at once. See "row.cuh".
extern "C" __global__ void layernorm_bias_gelu(const float* x, const float* gamma, const float* beta, const float* bias,
                                               float* out, size_t rows, size_t columns) {
}
// END TODO
