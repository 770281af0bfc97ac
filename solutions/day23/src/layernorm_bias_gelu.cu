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

#include "activation.cuh"
#include "reduce.cuh"

// ANCHOR: kernel
// A block has a row and keeps it in shared memory, so that x is read once. A thread works on every blockDim.x-th
// element, in all loops on the same ones: what it reads in `row` it put there itself, and no barrier is needed for
// that.
extern "C" __global__ void layernorm_bias_gelu(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                               const float* __restrict__ bias, float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float row[];  // as many elements as the launch asks for: columns
    __shared__ float sums[32], squares[32];
    // Of ints the compiler knows how often a loop will turn, and unrolls it: several loads are under way at once.
    // They are large enough: no block has room for a longer row.
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = x[c];
        sum += row[c];
    }
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / length;

    // The variance in a loop of its own: mean(x^2) - mean^2 would cancel.
    float square = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) square += (row[c] - mean) * (row[c] - mean);
    const float variance = reduce_block(square, squares, 0.0f, Sum()) / length;

    const float factor = rsqrtf(variance + 1e-5f);
    for (int c = threadIdx.x; c < length; c += threads) {
        out[c] = gelu_tanh((row[c] - mean) * factor * gamma[c] + beta[c] + bias[c]);
    }
}
// ANCHOR_END: kernel

// For rows that are too long to keep, or that this GPU's blocks have no room for: the row is read again each time. A
// cache may still have it, but each walk waits for its loads.
extern "C" __global__ void layernorm_bias_gelu_long(const float* __restrict__ x, const float* __restrict__ gamma,
                                                    const float* __restrict__ beta, const float* __restrict__ bias,
                                                    float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) sum += x[i];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;

    float square = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) square += (x[i] - mean) * (x[i] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);

    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) {
        out[i] = gelu_tanh((x[i] - mean) * factor * gamma[i] + beta[i] + bias[i]);
    }
}
