// add_rmsnorm, all bf16, `rows` rows of `columns` elements. The residual takes in x, and out is its RMSNorm:
//     residual = residual + x                                          rounded to bf16 and written back
//     out = residual / sqrt(mean of residual^2 + 1e-6) * weight        the mean is that of the row
// weight has one element a column. Sums and products are f32; what is stored is rounded once, to nearest even.
//
// Unfused, this is two launches:                                   bytes an element
//     add_bf16       residual = residual + x                              6
//     rmsnorm_bf16   out = residual / root of the row * weight            4
// 10 bytes an element. One kernel can do it with 8: read x and residual, write residual and out.
//
// Grade it with: cargo xtask grade add_rmsnorm

#include "reduce.cuh"
#include "row.cuh"

// ANCHOR: kernel
// 16-byte packs that a thread holds of its row: THREADS threads hold rows of up to THREADS * VECTORS * 8 elements.
const int VECTORS = 2;

template <int THREADS>
__device__ void add_rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight, __nv_bfloat16* __restrict__ residual,
                            __nv_bfloat16* __restrict__ out, size_t rows, size_t columns) {
    using Held = Row<__nv_bfloat16, THREADS, VECTORS>;
    __shared__ float sums[WARPS<THREADS>];

    const size_t number = row_number<THREADS>();
    if (number >= rows) return;
    x += number * columns;
    residual += number * columns;
    out += number * columns;

    const float inverse = 1.0f / columns;
    const auto add_square = [](float sum, float v) { return sum + v * v; };
    if (columns <= Held::CAPACITY && columns % 8 == 0 && aligned16(x, weight, residual, out)) {
        Held row, other;
        row.load(residual, columns);
        other.load(x, columns);
        row.combine([](float r, float v) { return r + v; }, other);
        row.write(residual);
        const float sum = reduce_row<THREADS>(row.fold(0.0f, add_square), sums, Sum());
        const float factor = rsqrtf(sum * inverse + 1e-6f);
        row.apply([=](float v, float w) { return v * factor * w; }, weight);
        row.write(out);
        return;
    }

    // Rows that are too long to hold, or not aligned: element by element, and the residual read again.
    float sum = 0.0f;
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) {
        residual[c] = from_float<__nv_bfloat16>(to_float(residual[c]) + to_float(x[c]));
        sum = add_square(sum, to_float(residual[c]));
    }
    sum = reduce_row<THREADS>(sum, sums, Sum());
    const float factor = rsqrtf(sum * inverse + 1e-6f);
    for (size_t c = threadIdx.x % THREADS; c < columns; c += THREADS) {
        out[c] = from_float<__nv_bfloat16>(to_float(residual[c]) * factor * to_float(weight[c]));
    }
}

// One kernel for each number of threads that may share a row. A block is one row, or four where a warp has a row each;
// the bound on registers leaves room for 1536 threads on a multiprocessor.
#define KERNEL(THREADS)                                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS <= 32 ? 128 : THREADS, 1536 / (THREADS <= 32 ? 128 : THREADS))\
        add_rmsnorm_##THREADS(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,           \
                              __nv_bfloat16* __restrict__ residual, __nv_bfloat16* __restrict__ out, size_t rows,      \
                              size_t columns) {                                                                        \
        add_rmsnorm<THREADS>(x, weight, residual, out, rows, columns);                                                 \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
// ANCHOR_END: kernel
