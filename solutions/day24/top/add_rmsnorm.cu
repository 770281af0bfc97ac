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

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// THREADS threads share a row of at most THREADS * VECTORS packs of 16 bytes. The launch sees to it that the row has no more,
// that it has only whole packs, and that they are aligned.
template <int THREADS, int VECTORS>
__device__ void add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ residual,
                            __nv_bfloat16* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    residual += number * columns;
    out += number * columns;

    Row<__nv_bfloat16, THREADS, VECTORS> row, other;
    row.load(residual, columns);
    other.load(x, columns);
    row.combine([](float r, float v) { return r + v; }, other);
    row.write(residual);
    const float square = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float sum = reduce_row<THREADS>(square, sums, Sum());
    const float factor = rsqrtf(__fdividef(sum, columns) + 1e-6f);
    row.apply([=](float v, float w) { return v * factor * w; }, weight);
    row.write(out);
}

// One kernel for each number of threads that may share a row, and of packs that each of them holds. A block is one row, or
// four where a warp has a row each; the bound on registers leaves room for 1536 threads on a multiprocessor.
#define BLOCK(THREADS) (THREADS <= 32 ? 128 : THREADS)
#define KERNEL(THREADS, VECTORS)                                                                                       \
    extern "C" __global__ void __launch_bounds__(BLOCK(THREADS), 1536 / BLOCK(THREADS))                                \
        add_rmsnorm_##THREADS##_##VECTORS(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,\
                                          __nv_bfloat16* __restrict__ residual, __nv_bfloat16* __restrict__ out,       \
                                          size_t rows, size_t columns) {                                               \
        add_rmsnorm<THREADS, VECTORS>(x, weight, residual, out, rows, columns);                                        \
    }
KERNEL(32, 1)
KERNEL(64, 1)
KERNEL(128, 1)
KERNEL(128, 2)
KERNEL(256, 2)
KERNEL(512, 2)
KERNEL(1024, 2)
// ANCHOR_END: kernel

// Any row, by a block: element by element, and the residual read again.
extern "C" __global__ void __launch_bounds__(256)
    add_rmsnorm_any(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ residual,
                    __nv_bfloat16* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32];
    const size_t number = blockIdx.x;
    x += number * columns;
    residual += number * columns;
    out += number * columns;

    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        residual[c] = from_float<__nv_bfloat16>(to_float(residual[c]) + to_float(x[c]));
        square += to_float(residual[c]) * to_float(residual[c]);
    }
    const float sum = reduce_block(square, sums, 0.0f, Sum());
    const float factor = rsqrtf(__fdividef(sum, columns) + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = from_float<__nv_bfloat16>(to_float(residual[c]) * factor * to_float(weight[c]));
    }
}
