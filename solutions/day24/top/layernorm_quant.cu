// layernorm_quant: layernorm, then int8 with one scale a row, for `rows` rows of `columns` elements, f32 in:
//     y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta       mean and variance of the row, divided by columns
//     scale = (largest |y| of the row) / 127                      f32, one a row
//     q = y / scale, rounded to nearest, ties to even             signed char; 0 in a row whose scale is 0
// gamma and beta have one element a column.
//
// Unfused, this is three launches:                     bytes per element
//     layernorm_affine   y = layernorm(x)                     8
//     row_scale          scale = largest |y| / 127            4
//     quantize_rows      q = round(y / scale)                 5
// 17 bytes per element. One kernel can do it with 5: read x, write q. Scales, gamma and beta are few.
//
// Grade it with: cargo xtask grade layernorm_quant

#include "divide.cuh"
#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: quantize
// The power of two that brings a scale into [1, 2), or, below 2^-126, nearer to it. Multiplied by it, a row and its scale have
// the same quotients, and divide exactly in three instructions whatever the scale is: see "divide.cuh". No scale is
// above 2^122: the largest float / 127 is less. The result for 0 is 2^127.
__device__ __forceinline__ float normalizer(float scale) {
    const unsigned exponent = __float_as_uint(scale) & 0x7f800000;
    return __uint_as_float(0x7f000000 - exponent);
}

// |y| is at most the row's largest, so the quotient of a scale that is no subnormal is within -127 and 127. It is NaN where the
// scale is 0: converted, 0.
__device__ __forceinline__ signed char quantize(float y, const Divisor& scale) {
    return (signed char)__float2int_rn(scale.quotient_of_small(y));
}
// ANCHOR_END: quantize

// ANCHOR: kernel
// THREADS threads share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has no more,
// that it has only whole packs, and that they are aligned.
template <int THREADS, int VECTORS>
__device__ void layernorm_quant(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>], maxima[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    q += number * columns;

    Row<float, THREADS, VECTORS> row;
    // Only long rows are done sooner for it.
    if (VECTORS > 4) {
        row.load_kept(x, columns);
    } else {
        row.load_constant(x, columns);
    }
    const Divisor length((float)columns);
    const float mean = length.quotient(reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum()));
    row.apply([=](float v) { return v - mean; });
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float variance = length.quotient(reduce_row<THREADS>(square, squares, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    row.apply([=](float v, float g, float b) { return v * factor * g + b; }, gamma, beta);
    const float largest = row.fold(0.0f, [](float top, float y) { return fmaxf(top, fabsf(y)); });
    const float step = reduce_row<THREADS>(largest, maxima, Max()) / 127.0f;
    if (threadIdx.x % THREADS == 0) scale[number] = step;
    const float unit = normalizer(step);
    const Divisor divisor(step * unit);
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        const float(&y)[4] = row.pack[j].at;
        if (row.holds(j)) {
            ((char4*)q)[row.index(j)] = make_char4(quantize(y[0] * unit, divisor), quantize(y[1] * unit, divisor),
                                                   quantize(y[2] * unit, divisor), quantize(y[3] * unit, divisor));
        }
    }
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds. A block is one row, or
// four where a warp has a row each. The bound on registers leaves room for 1536 threads on a multiprocessor, or for 1024
// where each holds twice as much: enough bytes under way, and blocks at different stages.
#define BLOCK(THREADS) (THREADS <= 32 ? 128 : THREADS)
#define KERNEL(THREADS, VECTORS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(BLOCK(THREADS), (VECTORS > 4 ? 1024 : 1536) / BLOCK(THREADS))         \
        layernorm_quant_##THREADS##_##VECTORS(const float* __restrict__ x, const float* __restrict__ gamma,            \
                                              const float* __restrict__ beta, signed char* __restrict__ q,             \
                                              float* __restrict__ scale, size_t rows, size_t columns) {                \
        layernorm_quant<THREADS, VECTORS>(x, gamma, beta, q, scale, rows, columns);                                    \
    }
KERNEL(32, 4)
KERNEL(64, 4)
KERNEL(128, 4)
KERNEL(256, 4)
KERNEL(512, 4)
KERNEL(512, 8)
KERNEL(1024, 8)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read four times.
extern "C" __global__ void __launch_bounds__(256)
    layernorm_quant_any(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                        signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32], maxima[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    q += number * columns;

    const Divisor length((float)columns);
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    const float mean = length.quotient(reduce_block(sum, sums, 0.0f, Sum()));
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[c] - mean) * (x[c] - mean);
    const float variance = length.quotient(reduce_block(square, squares, 0.0f, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    float top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, fabsf((x[c] - mean) * factor * gamma[c] + beta[c]));
    const float step = reduce_block(top, maxima, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[number] = step;
    const float unit = normalizer(step);
    const Divisor divisor(step * unit);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        q[c] = quantize(((x[c] - mean) * factor * gamma[c] + beta[c]) * unit, divisor);
    }
}
