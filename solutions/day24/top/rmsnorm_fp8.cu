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
// <cuda_fp8.h> has the type __nv_fp8_e4m3. GPUs from sm_89 on convert to it in one instruction; for older ones the header
// computes the bits, which takes longer and gives the same.
//
// Grade it with: cargo xtask grade rmsnorm_fp8

#include <cuda_fp8.h>

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// THREADS threads share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has no
// more, that it has only whole packs, and that they are aligned. With FEW the weights are read together with the row, not
// after the reduction. If a multiprocessor has one row, nothing else hides their latency. The weights take registers. With
// many rows, more blocks need these registers.
template <int THREADS, int VECTORS, bool FEW>
__device__ void rmsnorm_fp8(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight, __nv_fp8_e4m3* __restrict__ q,
                            float* __restrict__ scale, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], maxima[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    q += number * columns;

    Row<__nv_bfloat16, THREADS, VECTORS> row;
    row.load_constant(x, columns);
    Row<__nv_bfloat16, THREADS, VECTORS> early;
    if (FEW) early.load_constant(weight, columns);
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float factor = rsqrtf(__fdividef(reduce_row<THREADS>(square, sums, Sum()), columns) + 1e-6f);

    // The row was loaded as bf16; its y has more bits, and takes registers of its own.
    float2 y[VECTORS][4];
    float largest = 0.0f;
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        if (row.holds(j)) {
            const Pack<__nv_bfloat16> weights = FEW ? early.pack[j] : load_pack(weight, row.index(j));
#pragma unroll
            for (int pair = 0; pair < 4; pair++) {
                const float2 v = to_float2(row.pack[j], pair), w = to_float2(weights, pair);
                y[j][pair] = make_float2(v.x * factor * w.x, v.y * factor * w.y);
                largest = fmaxf(largest, fmaxf(fabsf(y[j][pair].x), fabsf(y[j][pair].y)));
            }
        }
    }
    largest = reduce_row<THREADS>(largest, maxima, Max());
    if (threadIdx.x % THREADS == 0) scale[number] = largest / 448.0f;

    // One division for the row. Its result is off by two units in the last place of 24 bits, of which four are kept.
    const float inverse = largest > 0.0f ? 448.0f / largest : 0.0f;
#pragma unroll
    for (int j = 0; j < VECTORS; j++) {
        if (row.holds(j)) {
            union {
                uint2 bits;
                __nv_fp8x2_storage_t at[4];
            } eight;
#pragma unroll
            for (int pair = 0; pair < 4; pair++) {
                const float2 v = y[j][pair];
                eight.at[pair] = __nv_fp8x2_e4m3(make_float2(v.x * inverse, v.y * inverse)).__x;
            }
            ((uint2*)q)[row.index(j)] = eight.bits;
        }
    }
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds. A block is one row,
// or four where a warp has a row each. With many rows, few threads with many packs each are done sooner than many with
// few: more loads of a thread are in flight at once, and fewer warps wait for each other. The bound on registers leaves
// room for 1024 threads on a multiprocessor, or for 768 where each holds twice as much: with less room the assembler
// spills.
#define BLOCK(THREADS) (THREADS <= 32 ? 128 : THREADS)
#define KERNEL(NAME, THREADS, VECTORS, FEW, BLOCKS)                                                                    \
    extern "C" __global__ void __launch_bounds__(BLOCK(THREADS), BLOCKS)                                               \
        rmsnorm_fp8_##NAME##THREADS##_##VECTORS(const __nv_bfloat16* __restrict__ x,                                   \
                                                const __nv_bfloat16* __restrict__ weight,                              \
                                                __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scale, size_t rows, \
                                                size_t columns) {                                                      \
        rmsnorm_fp8<THREADS, VECTORS, FEW>(x, weight, q, scale, rows, columns);                                        \
    }
KERNEL(, 32, 4, false, 8)
KERNEL(, 128, 4, false, 8)
KERNEL(, 256, 8, false, 3)
// For few rows: a pack or two for each thread, as threads there are to spare.
KERNEL(few_, 128, 1, true, 1)
KERNEL(few_, 256, 1, true, 1)
KERNEL(few_, 512, 1, true, 1)
KERNEL(few_, 1024, 1, true, 1)
KERNEL(few_, 1024, 2, true, 1)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and read three times.
extern "C" __global__ void __launch_bounds__(256)
    rmsnorm_fp8_any(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight, __nv_fp8_e4m3* __restrict__ q,
                    float* __restrict__ scale, size_t rows, size_t columns) {
    __shared__ float sums[32], maxima[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    q += number * columns;

    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += to_float(x[c]) * to_float(x[c]);
    const float factor = rsqrtf(__fdividef(reduce_block(square, sums, 0.0f, Sum()), columns) + 1e-6f);
    const auto normalized = [&](size_t c) { return to_float(x[c]) * factor * to_float(weight[c]); };
    float largest = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, fabsf(normalized(c)));
    largest = reduce_block(largest, maxima, 0.0f, Max());
    if (threadIdx.x == 0) scale[number] = largest / 448.0f;
    const float inverse = largest > 0.0f ? 448.0f / largest : 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) q[c] = __nv_fp8_e4m3(normalized(c) * inverse);
}
