// layernorm_bias_gelu: out = gelu(normalised * gamma + beta + bias), all f32, where for every row of x
//     normalised = (x - mean) / sqrt(variance + 1e-5)
// with the mean of the row and its variance: the mean of (x - mean)^2, over all of the row's elements. GELU is
// the tanh form: gelu(t) = 0.5 t (1 + tanh(sqrt(2/pi) (t + 0.044715 t^3))), which "activation.cuh" has.
//
// x and out are `rows` x `columns`, row after row; gamma, beta and bias have an element for each column.
//
// Unfused, this is three launches:                             bytes an element
//     layernorm     norm = normalised * gamma + beta                   8
//     add_to_rows   biased = norm + bias                               8
//     gelu          out = gelu(biased)                                 8
// 24 bytes an element. One kernel can do it with 8: read x, write out.
//
// Grade it with: cargo xtask grade layernorm_bias_gelu

// TODO(kernel): a block a row. Each thread reads its share of the row once, into registers; the block's threads find
// the mean together, then the variance from what they hold, and each of them writes its share.
// `#include "reduce.cuh"` (kernels/include/reduce.cuh) gives you reduce_row, which combines a value of each thread: of
// lanes by __shfl_xor_sync, of warps through shared memory. A second reduction needs shared memory of its own.
// `#include "row.cuh"` gives you Row, a row in registers, where columns is a multiple of 4 and every address one of 16.
// Other rows may be read again for each step. What is past the end of the row must neither be read nor counted.
// Rows of 1024, 4096 and 16384 elements are timed: with 16 elements a thread, that is 64, 256 and 1024 threads.
// `#include "activation.cuh"` gives you gelu_tanh.
// The mean of the squares minus the square of the mean is the variance only in exact arithmetic: in f32 a row that
// lies far from zero loses all of it.
extern "C" __global__ void layernorm_bias_gelu(const float* x, const float* gamma, const float* beta, const float* bias,
                                               float* out, size_t rows, size_t columns) {
}
// END TODO
