// rmsnorm_fp8: RMSNorm, then e4m3 with one scale a row, for `rows` rows of `columns` elements, bf16 in:
//     y = x / sqrt(mean of x^2 + 1e-6) * weight         f32, not rounded to bf16; the mean is that of the row
//     scale = (largest |y| of the row) / 448            f32, one a row; 448 is the largest e4m3
//     q = y / scale, rounded to nearest, ties to even   e4m3; 0 in a row whose scale is 0
// weight has one element a column.
//
// Unfused, this is two launches:                                     bytes per element
//     rmsnorm_bf16        y = x / root of the row * weight, as bf16        4
//     quantize_fp8_rows   scale = largest |y| / 448, q = y / scale         3
// 7 bytes per element. One kernel can do it with 3: read x, write q. Scales and weights are few.
//
// <cuda_fp8.h> has the type __nv_fp8_e4m3, and __nv_fp8x2_e4m3 for two of them. GPUs from sm_89 on convert two floats to it in one
// instruction; for older ones the header computes the bits, which takes longer and gives the same.
//
// Grade it with: cargo xtask grade rmsnorm_fp8

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "reduce.cuh"

// ANCHOR: kernel
// A block has a row and keeps it in shared memory, so that x is read once. A thread works on every blockDim.x-th pair of
// elements, in all loops on the same ones: what it reads in `row` it put there itself, and no barrier is needed for that.
// With single elements a warp would ask for 64 bytes at a time, and would wait for memory most of the time.
// The launch sees to it that the row has an even number of elements, and that pairs are aligned.
extern "C" __global__ void rmsnorm_fp8(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                       __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    extern __shared__ __nv_bfloat162 row[];  // as many pairs as the launch asks for
    __shared__ float sums[32], maxima[32];
    // Of ints the compiler knows how often a loop will turn, and unrolls it: several loads are under way at once.
    // They are large enough: no block has room for a longer row.
    const int length = columns, pairs = length / 2, threads = blockDim.x;
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float sum = 0.0f;
#pragma unroll 8
    for (int p = threadIdx.x; p < pairs; p += threads) {
        row[p] = ((const __nv_bfloat162*)x)[p];
        const float2 v = __bfloat1622float2(row[p]);
        sum += v.x * v.x + v.y * v.y;
    }
    const float factor = rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / length + 1e-6f);

    // y in f32, computed twice from the row that is kept: rounded to bf16 in between, it would go to another e4m3 now and then.
    const auto normalized = [&](int p) {
        const float2 v = __bfloat1622float2(row[p]), w = __bfloat1622float2(((const __nv_bfloat162*)weight)[p]);
        return make_float2(v.x * factor * w.x, v.y * factor * w.y);
    };
    float largest = 0.0f;
    for (int p = threadIdx.x; p < pairs; p += threads) {
        const float2 y = normalized(p);
        largest = fmaxf(largest, fmaxf(fabsf(y.x), fabsf(y.y)));
    }
    const float step = reduce_block(largest, maxima, 0.0f, Max()) / 448.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;

    // A row of zeros has a step of 0; divided by 1, it stays a row of zeros.
    const float divisor = step > 0.0f ? step : 1.0f;
    for (int p = threadIdx.x; p < pairs; p += threads) {
        const float2 y = normalized(p);
        ((__nv_fp8x2_e4m3*)q)[p] = __nv_fp8x2_e4m3(make_float2(y.x / divisor, y.y / divisor));
    }
}
// ANCHOR_END: kernel

// For rows that are too long to keep, and for those without whole or aligned pairs: single elements, and the row is read again
// each time. A cache may still have it, but each walk waits for its loads.
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
