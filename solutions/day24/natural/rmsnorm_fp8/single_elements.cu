// Single elements, and y in shared memory as f32.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "reduce.cuh"

// A block has a row and keeps it in shared memory, so that x is read once. A thread works on every blockDim.x-th
// element, in all loops on the same ones: what it reads in `row` it put there itself, and no barrier is needed for
// that.
extern "C" __global__ void rmsnorm_fp8(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                       __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    extern __shared__ float row[];  // as many elements as the launch asks for: columns
    __shared__ float sums[32], maxima[32];
    // Of ints the compiler knows how often a loop will turn, and unrolls it: several loads are under way at once.
    // They are large enough: no block has room for a longer row.
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = __bfloat162float(x[c]);
        sum += row[c] * row[c];
    }
    const float factor = rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / length + 1e-6f);

    // y takes the place of x: it is needed for its largest value, and again for the result. It stays an f32, so that the
    // only rounding to few bits is the last one.
    float largest = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = row[c] * factor * __bfloat162float(weight[c]);
        largest = fmaxf(largest, fabsf(row[c]));
    }
    const float step = reduce_block(largest, maxima, 0.0f, Max()) / 448.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;

    // A row of zeros has a step of 0; divided by 1, it stays a row of zeros.
    const float divisor = step > 0.0f ? step : 1.0f;
    for (int c = threadIdx.x; c < length; c += threads) q[c] = __nv_fp8_e4m3(row[c] / divisor);
}

// For rows that are too long to keep, or that this GPU's blocks have no room for: the row is read again each time. A
// cache may still have it, but each walk waits for its loads.
extern "C" __global__ void rmsnorm_fp8_long(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                            __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scale, size_t rows,
                                            size_t columns) {
    __shared__ float sums[32], maxima[32];
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float total = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) total += __bfloat162float(x[i]) * __bfloat162float(x[i]);
    const float factor = rsqrtf(reduce_block(total, sums, 0.0f, Sum()) / columns + 1e-6f);

    // y has no place to be kept: it is computed twice.
    const auto normalized = [&](size_t i) { return __bfloat162float(x[i]) * factor * __bfloat162float(weight[i]); };
    float bound = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) bound = fmaxf(bound, fabsf(normalized(i)));
    const float unit = reduce_block(bound, maxima, 0.0f, Max()) / 448.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = unit;

    const float divisor = unit > 0.0f ? unit : 1.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) q[i] = __nv_fp8_e4m3(normalized(i) / divisor);
}
