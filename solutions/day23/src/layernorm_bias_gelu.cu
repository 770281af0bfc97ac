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

#include "activation.cuh"
#include "divide.cuh"
#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// 16-byte packs that a thread holds of its row: THREADS threads hold rows of up to THREADS * VECTORS<THREADS> * 4
// elements. Long rows take more a thread, so that a multiprocessor has room for two of them at different stages.
template <int THREADS>
constexpr int VECTORS = THREADS < 512 ? 4 : 8;

template <int THREADS>
__device__ void layernorm_bias_gelu(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                    const float* __restrict__ bias, float* __restrict__ out, size_t rows, size_t columns) {
    using Held = Row<float, THREADS, VECTORS<THREADS>>;
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    const auto add_square = [](float sum, float v) { return sum + v * v; };
    const Divisor length((float)columns);
    if (columns <= Held::CAPACITY && columns % 4 == 0 && aligned16(x, gamma, beta, bias, out)) {
        Held row;
        row.load(x, columns);
        const float mean = length.quotient(reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum()));
        row.apply([=](float v) { return v - mean; });
        const float variance = length.quotient(reduce_row<THREADS>(row.fold(0.0f, add_square), squares, Sum()));
        const float factor = rsqrtf(variance + 1e-5f);
        row.apply([=](float v, float g, float b, float c) { return gelu_fast(v * factor * g + b + c); }, gamma, beta, bias);
        row.write(out);
        return;
    }

    // Rows that are too long to hold, or not aligned: element by element, and read three times.
    float sum = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) sum += x[c];
    const float mean = length.quotient(reduce_row<THREADS>(sum, sums, Sum()));
    float square = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) square = add_square(square, x[c] - mean);
    const float variance = length.quotient(reduce_row<THREADS>(square, squares, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) {
        out[c] = gelu_fast((x[c] - mean) * factor * gamma[c] + beta[c] + bias[c]);
    }
}

// One kernel for each number of threads that may share a row. A block is one row, or four where a warp has a row each;
// the bound on registers leaves room for 1280 threads on a multiprocessor, or two blocks of 512.
#define KERNEL(THREADS)                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS, 1280 / (THREADS <= 32 ? 128 : THREADS)) layernorm_bias_gelu_##THREADS(\
        const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,                  \
        const float* __restrict__ bias, float* __restrict__ out, size_t rows, size_t columns) {                        \
        layernorm_bias_gelu<THREADS>(x, gamma, beta, bias, out, rows, columns);                                        \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
// ANCHOR_END: kernel
