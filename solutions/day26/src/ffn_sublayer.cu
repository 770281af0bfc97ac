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

#include <cuda_fp16.h>

#include "activation.cuh"
#include "reduce.cuh"

// The product stays with the library. These are the kernels on either side of it: what can be fused with nothing but
// memory traffic to lose. A block has a row in both, and so no thread divides to find its column.
const int THREADS = 128;

// ANCHOR: layernorm
extern "C" __global__ void layernorm(const __half* __restrict__ x, const __half* __restrict__ gamma, const __half* __restrict__ beta,
                                     __half* __restrict__ out, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) sum += __half2float(x[c]);
    const float mean = reduce_row<THREADS>(sum, sums, Sum()) / columns;

    // The row is short and stays in the L1 cache, which it is read from a second and a third time.
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        const float distance = __half2float(x[c]) - mean;
        square += distance * distance;
    }
    const float factor = rsqrtf(reduce_row<THREADS>(square, squares, Sum()) / columns + 1e-5f);

    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        const float normalized = (__half2float(x[c]) - mean) * factor;
        out[c] = __float2half_rn(normalized * __half2float(gamma[c]) + __half2float(beta[c]));
    }
}
// ANCHOR_END: layernorm

// ANCHOR: epilogue
// out = x + gelu(product + bias): bias, activation and residual in one pass over the product.
extern "C" __global__ void epilogue(const __half* __restrict__ product, const __half* __restrict__ bias, const __half* __restrict__ x,
                                    __half* __restrict__ out, size_t columns) {
    const size_t start = blockIdx.x * columns;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        const float activated = gelu_tanh(__half2float(product[start + c]) + __half2float(bias[c]));
        out[start + c] = __float2half_rn(__half2float(x[start + c]) + activated);
    }
}
// ANCHOR_END: epilogue
