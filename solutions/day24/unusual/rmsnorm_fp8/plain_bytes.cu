// The bits of e4m3 as plain bytes, by the functions of the header that make them.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "reduce.cuh"

extern "C" __global__ void rmsnorm_fp8(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                       unsigned char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    extern __shared__ __nv_bfloat162 row[];  // as many pairs as the launch asks for
    __shared__ float sums[32], maxima[32];
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

    const float divisor = step > 0.0f ? step : 1.0f;
    for (int p = threadIdx.x; p < pairs; p += threads) {
        const float2 y = normalized(p);
        ((__nv_fp8x2_storage_t*)q)[p] = __nv_cvt_float2_to_fp8x2(make_float2(y.x / divisor, y.y / divisor), __NV_SATFINITE, __NV_E4M3);
    }
}

extern "C" __global__ void rmsnorm_fp8_long(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                            unsigned char* __restrict__ q, float* __restrict__ scale, size_t rows,
                                            size_t columns) {
    __shared__ float sums[32], maxima[32];
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float total = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) total += __bfloat162float(x[i]) * __bfloat162float(x[i]);
    const float factor = rsqrtf(reduce_block(total, sums, 0.0f, Sum()) / columns + 1e-6f);

    const auto normalized = [&](size_t i) { return __bfloat162float(x[i]) * factor * __bfloat162float(weight[i]); };
    float bound = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) bound = fmaxf(bound, fabsf(normalized(i)));
    const float unit = reduce_block(bound, maxima, 0.0f, Max()) / 448.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = unit;

    const float divisor = unit > 0.0f ? unit : 1.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) q[i] = __nv_cvt_float_to_fp8(normalized(i) / divisor, __NV_SATFINITE, __NV_E4M3);
}
