// add_rmsnorm, all bf16, `rows` rows of `columns` elements. The residual takes in x, and out is its RMSNorm:
//     residual = residual + x                                          rounded to bf16 and written back
//     out = residual / sqrt(mean of residual^2 + 1e-6) * weight        the mean is that of the row
// weight has one element a column. Sums and products are f32; what is stored is rounded once, to nearest even.
//
// Unfused, this is two launches:                                   bytes per element
//     add_bf16       residual = residual + x                              6
//     rmsnorm_bf16   out = residual / root of the row * weight            4
// 10 bytes per element. One kernel can do it with 8: read x and residual, write residual and out.
//
// Grade it with: cargo xtask grade add_rmsnorm

#include <cuda_bf16.h>

#include "reduce.cuh"

// ANCHOR: kernel
// A block has a row and keeps it in shared memory, so that x and residual are read once. A thread works on every blockDim.x-th
// element, in all loops on the same ones: what it reads in `row` it put there itself, and no barrier is needed for
// that.
extern "C" __global__ void add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                       __nv_bfloat16* __restrict__ residual, __nv_bfloat16* __restrict__ out, size_t rows,
                                       size_t columns) {
    extern __shared__ float row[];  // as many elements as the launch asks for: columns
    __shared__ float sums[32];
    // Of ints the compiler knows how often a loop will turn, and unrolls it: several loads are under way at once.
    // They are large enough: no block has room for a longer row.
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    residual += blockIdx.x * columns;
    out += blockIdx.x * columns;

    // What is squared and normalized is the residual as it will be stored: rounded.
    float sum = 0.0f;
    // A store to residual in here would keep the next loads waiting: for all the compiler knows, they read it.
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = __bfloat162float(__float2bfloat16_rn(__bfloat162float(residual[c]) + __bfloat162float(x[c])));
        sum += row[c] * row[c];
    }
    sum = reduce_block(sum, sums, 0.0f, Sum());

    const float factor = rsqrtf(sum / length + 1e-6f);
    for (int c = threadIdx.x; c < length; c += threads) {
        residual[c] = __float2bfloat16_rn(row[c]);  // exact: it was rounded before
        out[c] = __float2bfloat16_rn(row[c] * factor * __bfloat162float(weight[c]));
    }
}
// ANCHOR_END: kernel

// For rows that are too long to keep, or that this GPU's blocks have no room for: the residual is written, and read
// again. Each thread reads what it wrote itself.
extern "C" __global__ void add_rmsnorm_long(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                                            __nv_bfloat16* __restrict__ residual, __nv_bfloat16* __restrict__ out,
                                            size_t rows, size_t columns) {
    __shared__ float sums[32];
    x += blockIdx.x * columns;
    residual += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float total = 0.0f;
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) {
        residual[i] = __float2bfloat16_rn(__bfloat162float(residual[i]) + __bfloat162float(x[i]));
        total += __bfloat162float(residual[i]) * __bfloat162float(residual[i]);
    }
    total = reduce_block(total, sums, 0.0f, Sum());

    const float factor = rsqrtf(total / columns + 1e-6f);
    for (size_t i = threadIdx.x; i < columns; i += blockDim.x) {
        out[i] = __float2bfloat16_rn(__bfloat162float(residual[i]) * factor * __bfloat162float(weight[i]));
    }
}
