// layernorm_quant: layernorm, then int8 with one scale a row, for `rows` rows of `columns` elements, f32 in:
//     y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta       mean and variance of the row, divided by columns
//     scale = (largest |y| of the row) / 127                      f32, one a row
//     q = y / scale, rounded to nearest, ties to even             signed char; 0 in a row whose scale is 0
// gamma and beta have one element a column.
//
// Unfused, this is three launches:                     bytes an element
//     layernorm_affine   y = layernorm(x)                     8
//     row_scale          scale = largest |y| / 127            4
//     quantize_rows      q = round(y / scale)                 5
// 17 bytes an element. One kernel can do it with 5: read x, write q. Scales, gamma and beta are few.
//
// Grade it with: cargo xtask grade layernorm_quant

#include "divide.cuh"
#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: quantize
// A true division, for any scale. |y| is at most the row's largest, so the result is within -127 and 127.
__device__ __forceinline__ signed char quantize(float y, float scale) {
    return scale > 0.0f ? (signed char)__float2int_rn(y / scale) : 0;
}

// The same result for an ordinary scale, in a third of the instructions.
__device__ __forceinline__ signed char quantize(float y, const Divisor& scale) {
    return (signed char)__float2int_rn(scale.quotient_of_small(y));
}
// ANCHOR_END: quantize

// ANCHOR: kernel
// 16-byte packs that a thread holds of its row: THREADS threads hold rows of up to THREADS * VECTORS<THREADS> * 4
// elements. Long rows take more a thread, so that a multiprocessor has room for two of them at different stages.
template <int THREADS>
constexpr int VECTORS = THREADS < 512 ? 4 : 8;

template <int THREADS>
__device__ void layernorm_quant(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    using Held = Row<float, THREADS, VECTORS<THREADS>>;
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>], maxima[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    q += number * columns;

    const auto add_square = [](float sum, float v) { return sum + v * v; };
    const auto larger = [](float top, float y) { return fmaxf(top, fabsf(y)); };
    const Divisor length((float)columns);
    if (columns <= Held::CAPACITY && columns % 4 == 0 && aligned16(x, gamma, beta) && (size_t)q % 4 == 0) {
        Held row;
        row.load(x, columns);
        const float mean = length.quotient(reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum()));
        row.apply([=](float v) { return v - mean; });
        const float variance = length.quotient(reduce_row<THREADS>(row.fold(0.0f, add_square), squares, Sum()));
        const float factor = rsqrtf(variance + 1e-5f);
        row.apply([=](float v, float g, float b) { return v * factor * g + b; }, gamma, beta);
        const float top = reduce_row<THREADS>(row.fold(0.0f, larger), maxima, Max());
        const Divisor divisor(top / 127.0f);
        if (divisor.ordinary) {
            if (threadIdx.x % THREADS == 0) scale[number] = divisor.value;
#pragma unroll
            for (int j = 0; j < VECTORS<THREADS>; j++) {
                const float(&y)[4] = row.pack[j].at;
                if (row.holds(j)) {
                    ((char4*)q)[row.index(j)] = make_char4(quantize(y[0], divisor), quantize(y[1], divisor),
                                                           quantize(y[2], divisor), quantize(y[3], divisor));
                }
            }
            return;
        }
    }

    // Rows that are too long to hold, or not aligned, or whose scale is no ordinary divisor, such as 0: element by
    // element, and read four times.
    float sum = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) sum += x[c];
    const float mean = length.quotient(reduce_row<THREADS>(sum, sums, Sum()));
    float square = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) square = add_square(square, x[c] - mean);
    const float variance = length.quotient(reduce_row<THREADS>(square, squares, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    float top = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) {
        top = larger(top, (x[c] - mean) * factor * gamma[c] + beta[c]);
    }
    top = reduce_row<THREADS>(top, maxima, Max());
    const float step = top / 127.0f;
    if (threadIdx.x % THREADS == 0) scale[number] = step;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) {
        q[c] = quantize((x[c] - mean) * factor * gamma[c] + beta[c], step);
    }
}

// One kernel for each number of threads that may share a row. A block is one row, or four where a warp has a row each;
// the bound on registers leaves room for 1280 threads on a multiprocessor, or two blocks of 512.
#define KERNEL(THREADS)                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS, 1280 / (THREADS <= 32 ? 128 : THREADS))\
        layernorm_quant_##THREADS(const float* __restrict__ x, const float* __restrict__ gamma,                        \
                                  const float* __restrict__ beta, signed char* __restrict__ q,                         \
                                  float* __restrict__ scale, size_t rows, size_t columns) {                            \
        layernorm_quant<THREADS>(x, gamma, beta, q, scale, rows, columns);                                             \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
// ANCHOR_END: kernel
