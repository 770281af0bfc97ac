// ffn_sublayer: out = x + gelu(layernorm(x) W + bias), all f16, computed in f32. x and out are `rows` rows of `columns`
// elements, row-major; W is square, row-major; gamma and beta of the layer norm and bias have an element a column.
// layernorm(x) = (x - mean) / sqrt(variance + 1e-5) * gamma + beta, over each row, variance with the divisor `columns`;
// gelu is the tanh form, gelu_tanh in "activation.cuh".
//
// Unfused, this is five launches:                 bytes per element
//     layernorm_f16    normed = layernorm(x)                      4
//     (the library)    product = normed W                         4, and W
//     add_columns_f16  biased = product + bias                    4
//     gelu_f16         activated = gelu(biased)                   4
//     add_f16          out = x + activated                        6
// 22 bytes per element, and W. One kernel would do it with 4, and W. Would it be faster? That is the question. At most
// three launches pass.
//
// Grade it with: cargo xtask grade ffn_sublayer

#include "activation.cuh"
#include "reduce.cuh"
#include "row.cuh"

// The product stays with the library. These are the kernels on either side of it: what can be fused with nothing but
// memory traffic to lose.

// ANCHOR: layernorm
// A warp holds a row, each lane up to VECTORS packs of 16 bytes of it: rows of up to 1024 elements.
const int VECTORS = 4;

extern "C" __global__ void __launch_bounds__(128)
    layernorm(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
              __half* __restrict__ out, size_t rows, size_t columns) {
    using Held = Row<__half, 32, VECTORS>;

    const size_t number = row_number<32>();
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;

    if (columns <= Held::CAPACITY && columns % 8 == 0 && aligned16(x, gamma, beta, out)) {
        Held row;
        row.load(x, columns);
        const float mean = reduce_lanes<32>(row.fold(0.0f, Sum()), Sum()) / columns;
        const auto add_square = [=](float sum, float v) { return sum + (v - mean) * (v - mean); };
        const float variance = reduce_lanes<32>(row.fold(0.0f, add_square), Sum()) / columns;
        const float factor = rsqrtf(variance + 1e-5f);
        row.apply([=](float v, float g, float b) { return (v - mean) * factor * g + b; }, gamma, beta);
        row.write(out);
        return;
    }

    // Rows that are too long to hold, or not aligned: element by element, and read three times.
    float sum = 0.0f;
    for (size_t c = threadIdx.x % 32; c < columns; c += 32) sum += to_float(x[c]);
    const float mean = reduce_lanes<32>(sum, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x % 32; c < columns; c += 32) square += (to_float(x[c]) - mean) * (to_float(x[c]) - mean);
    const float variance = reduce_lanes<32>(square, Sum()) / columns;
    const float factor = rsqrtf(variance + 1e-5f);
    for (size_t c = threadIdx.x % 32; c < columns; c += 32) {
        out[c] = from_float<__half>((to_float(x[c]) - mean) * factor * to_float(gamma[c]) + to_float(beta[c]));
    }
}
// ANCHOR_END: layernorm

// ANCHOR: epilogue
// out = x + gelu(product + bias). A block works on one row, so that no thread divides to find its column.
extern "C" __global__ void epilogue(const __half* __restrict__ product, const __half* __restrict__ bias,
                                    const __half* __restrict__ x, __half* __restrict__ out, size_t columns) {
    const auto one = [](float p, float b, float v) { return v + gelu_fast(p + b); };
    const size_t start = blockIdx.x * columns;
    product += start;
    x += start;
    out += start;

    const size_t packs = columns % 8 == 0 && aligned16(product, bias, x, out) ? columns / 8 : 0;
    for (size_t p = threadIdx.x; p < packs; p += blockDim.x) {
        store_pack(out, p, map(one, load_pack(product, p), load_pack(bias, p), load_pack(x, p)));
    }
    for (size_t c = 8 * packs + threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = from_float<__half>(one(to_float(product[c]), to_float(bias[c]), to_float(x[c])));
    }
}
// ANCHOR_END: epilogue
