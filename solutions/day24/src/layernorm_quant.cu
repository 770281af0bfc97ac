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

#include "reduce.cuh"

// ANCHOR: kernel
// A block has a row and keeps it in shared memory, so that x is read once. A thread works on every blockDim.x-th
// element, in all loops on the same ones: what it reads in `row` it put there itself, and no barrier is needed for
// that.
extern "C" __global__ void layernorm_quant(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                           signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    extern __shared__ float row[];  // as many elements as the launch asks for: columns
    __shared__ float sums[32], squares[32], maxima[32];
    // Of ints the compiler knows how often a loop will turn, and unrolls it: several loads are under way at once.
    // They are large enough: no block has room for a longer row.
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

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

    // y takes the place of x: it is needed for its largest value, and again for the result.
    const float factor = rsqrtf(variance + 1e-5f);
    float largest = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = (row[c] - mean) * factor * gamma[c] + beta[c];
        largest = fmaxf(largest, fabsf(row[c]));
    }
    const float step = reduce_block(largest, maxima, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;

    // A row of zeros has a step of 0; divided by 1, it stays a row of zeros. No |y| is larger than the largest, so
    // that there is nothing to clamp.
    const float divisor = step > 0.0f ? step : 1.0f;
    for (int c = threadIdx.x; c < length; c += threads) q[c] = (signed char)__float2int_rn(row[c] / divisor);
}
// ANCHOR_END: kernel

// For rows that are too long to keep, or that this GPU's blocks have no room for: the row is read again each time. A
// cache may still have it, but each walk waits for its loads.
extern "C" __global__ void layernorm_quant_long(const float* __restrict__ x, const float* __restrict__ gamma,
                                                const float* __restrict__ beta, signed char* __restrict__ q,
                                                float* __restrict__ scale, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32], maxima[32];
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) sum += x[i];
    const float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;

    float square = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) square += (x[i] - mean) * (x[i] - mean);
    const float factor = rsqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);

    // y has no place to be kept: it is computed twice.
    const auto normalized = [&](size_t i) { return (x[i] - mean) * factor * gamma[i] + beta[i]; };
    float bound = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) bound = fmaxf(bound, fabsf(normalized(i)));
    const float unit = reduce_block(bound, maxima, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = unit;

    const float divisor = unit > 0.0f ? unit : 1.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) {
        q[i] = (signed char)__float2int_rn(normalized(i) / divisor);
    }
}
