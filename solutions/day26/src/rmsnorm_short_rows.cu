// rmsnorm_short_rows: out = x / sqrt(mean of the row's x^2 + 1e-6) * weight, all f16, computed in f32 and rounded once.
// x and out are `rows` rows of `columns` elements, row-major; weight has an element a column. The rows are short: 64 to
// 1024 elements are timed, and any length must be right.
//
// Unfused, this is four launches:                       bytes per element
//     square_f16          squares = x * x, f32                         6
//     mean_of_short_rows  means = the mean of each row, f32            4
//     scale_rows_f16      normed = x / sqrt(means + 1e-6)              4
//     mul_columns_f16     out = normed * weight                        4
// 18 bytes per element, and a few a row. One kernel can do it with 4: read x, write out.
//
// Grade it with: cargo xtask grade rmsnorm_short_rows

#include <cuda_fp16.h>

// ANCHOR: kernel
// `lanes` neighbouring lanes share a row, so that a warp has several rows and each lane a few elements.
extern "C" __global__ void rmsnorm_short_rows(const __half* __restrict__ x, const __half* __restrict__ weight,
                                              __half* __restrict__ out, size_t rows, size_t columns, int lanes) {
    const size_t row = (size_t)blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    const int lane = threadIdx.x % lanes;
    // A lane without a row stays, with nothing to do: all lanes of the warp must come to the shuffles.
    const int length = row < rows ? columns : 0;
    x += row * columns;
    out += row * columns;

    // Two neighbours at once, where rows begin at whole pairs: rows as short as these are bound by instructions.
    const bool pairs = columns % 2 == 0 && ((size_t)x | (size_t)weight | (size_t)out) % 4 == 0;
    float sum = 0.0f;
    if (pairs) {
        for (int p = lane; p < length / 2; p += lanes) {
            const float2 v = __half22float2(((const __half2*)x)[p]);
            sum += v.x * v.x + v.y * v.y;
        }
    } else {
        for (int c = lane; c < length; c += lanes) sum += __half2float(x[c]) * __half2float(x[c]);
    }
    for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);

    // The second look at x comes out of the cache.
    const float factor = rsqrtf(sum / columns + 1e-6f);
    if (pairs) {
        for (int p = lane; p < length / 2; p += lanes) {
            const float2 v = __half22float2(((const __half2*)x)[p]), w = __half22float2(((const __half2*)weight)[p]);
            ((__half2*)out)[p] = __floats2half2_rn(v.x * factor * w.x, v.y * factor * w.y);
        }
    } else {
        for (int c = lane; c < length; c += lanes) {
            out[c] = __float2half_rn(__half2float(x[c]) * factor * __half2float(weight[c]));
        }
    }
}
// ANCHOR_END: kernel
