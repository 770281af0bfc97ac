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
#include "divide.cuh"
#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// THREADS threads share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has no more,
// that it has only whole packs, and that they are aligned.
template <int THREADS, int VECTORS>
__device__ void layernorm_bias_gelu(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                    const float* __restrict__ bias, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    Row<float, THREADS, VECTORS> row;
    row.load_kept(x, columns);
    const Divisor length((float)columns);
    const float mean = length.quotient(reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum()));
    row.apply([=](float v) { return v - mean; });
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float variance = length.quotient(reduce_row<THREADS>(square, squares, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    const auto normalized = [=](float v, float g, float b, float c) { return gelu_fast(v * factor * g + b + c); };
    row.write_each(out, normalized, gamma, beta, bias);
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds: more in long rows, so
// that a multiprocessor has room for two of them at different stages. A block is one row, or four where a warp has a row
// each; the bound on registers leaves room for 1280 threads on a multiprocessor, or two blocks of 512.
#define BLOCK(THREADS) (THREADS <= 32 ? 128 : THREADS)
#define KERNEL(THREADS, VECTORS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(BLOCK(THREADS), 1280 / BLOCK(THREADS))                                \
        layernorm_bias_gelu_##THREADS##_##VECTORS(const float* __restrict__ x, const float* __restrict__ gamma,        \
                                                  const float* __restrict__ beta, const float* __restrict__ bias,      \
                                                  float* __restrict__ out, size_t rows, size_t columns) {              \
        layernorm_bias_gelu<THREADS, VECTORS>(x, gamma, beta, bias, out, rows, columns);                               \
    }
KERNEL(32, 4)
KERNEL(64, 4)
KERNEL(128, 4)
KERNEL(256, 4)
KERNEL(512, 8)
KERNEL(1024, 8)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read three times.
extern "C" __global__ void __launch_bounds__(256)
    layernorm_bias_gelu_any(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                            const float* __restrict__ bias, float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    out += number * columns;

    const Divisor length((float)columns);
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    const float mean = length.quotient(reduce_block(sum, sums, 0.0f, Sum()));
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[c] - mean) * (x[c] - mean);
    const float variance = length.quotient(reduce_block(square, squares, 0.0f, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = gelu_fast((x[c] - mean) * factor * gamma[c] + beta[c] + bias[c]);
    }
}
