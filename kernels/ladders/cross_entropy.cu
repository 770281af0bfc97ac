// The cross entropy of the rows of a matrix, from two walks over a row to one: loss = log(sum of exp(x)) - x[label], all f32; 0
// where the label is -100. One block a row: the grid is `rows` blocks, of a power of two of threads, at most 1024.
//
//     cross_entropy_two_walks         the largest element, and then the sum
//     cross_entropy_online            both in one walk: the sum is corrected for each element
//     cross_entropy_one_exponential   the same with one exponential per element instead of two
//     cross_entropy_eight             eight elements are loaded, and the sum is corrected once for all of them
//     cross_entropy_packs             sixteen elements, by four accesses of 16 bytes
//
// The last one needs a multiple of 4 columns and addresses that are multiples of 16.
#include <float.h>
#include <math_constants.h>

#include "reduce.cuh"

// ANCHOR: end
// What all rungs have in common: a row without a label, and what becomes of the threads' maxima and
// sums.
__device__ __forceinline__ bool is_ignored(const int* labels, float* loss) {
    if (labels[blockIdx.x] != -100) return false;
    if (threadIdx.x == 0) loss[blockIdx.x] = 0.0f;
    return true;
}

__device__ __forceinline__ void finish(float top, float sum, float chosen, float* loss) {
    __shared__ float maxima[32], sums[32];
    const float largest = reduce_block(top, maxima, -FLT_MAX, Max());
    sum = reduce_block(sum * expf(top - largest), sums, 0.0f, Sum());
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + (largest - chosen);
}
// ANCHOR_END: end

// ANCHOR: two_walks
extern "C" __global__ void cross_entropy_two_walks(
    const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss,
    size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    if (is_ignored(labels, loss)) return;
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    const float chosen = x[labels[blockIdx.x]];

    float top = -FLT_MAX;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) top = fmaxf(top, x[c]);
    top = reduce_block(top, maxima, -FLT_MAX, Max());

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) sum += expf(x[c] - top);
    sum = reduce_block(sum, sums, 0.0f, Sum());
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + (top - chosen);
}
// ANCHOR_END: two_walks

// ANCHOR: online
extern "C" __global__ void cross_entropy_online(
    const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss,
    size_t rows, size_t columns) {
    if (is_ignored(labels, loss)) return;
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    const float chosen = x[labels[blockIdx.x]];

    float top = -FLT_MAX, sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        const float value = x[c], larger = fmaxf(top, value);
        sum = sum * expf(top - larger) + expf(value - larger);
        top = larger;
    }
    finish(top, sum, chosen, loss);
}
// ANCHOR_END: online

// ANCHOR: one_exponential
extern "C" __global__ void cross_entropy_one_exponential(
    const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss,
    size_t rows, size_t columns) {
    if (is_ignored(labels, loss)) return;
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    const float chosen = x[labels[blockIdx.x]];

    float top = -FLT_MAX, sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        // Of the two exponentials, one is that of 0.
        const float value = x[c], smaller = expf(-fabsf(value - top));
        sum = value > top ? sum * smaller + 1.0f : sum + smaller;
        top = fmaxf(top, value);
    }
    finish(top, sum, chosen, loss);
}
// ANCHOR_END: one_exponential

// ANCHOR: eight
extern "C" __global__ void cross_entropy_eight(
    const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss,
    size_t rows, size_t columns) {
    if (is_ignored(labels, loss)) return;
    x += blockIdx.x * columns;
    const float chosen = x[labels[blockIdx.x]];

    float top = -FLT_MAX, sum = 0.0f;
    for (size_t begin = threadIdx.x; begin < columns; begin += 8 * blockDim.x) {
        float value[8], larger = top;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const size_t c = begin + j * blockDim.x;
            value[j] = c < columns ? x[c] : -CUDART_INF_F;  // its exponential is 0
            larger = fmaxf(larger, value[j]);
        }
        sum *= expf(top - larger);
        top = larger;
#pragma unroll
        for (int j = 0; j < 8; j++) sum += expf(value[j] - top);
    }
    finish(top, sum, chosen, loss);
}
// ANCHOR_END: eight

// ANCHOR: packs
extern "C" __global__ void cross_entropy_packs(
    const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss,
    size_t rows, size_t columns) {
    if (is_ignored(labels, loss)) return;
    x += blockIdx.x * columns;
    const float chosen = x[labels[blockIdx.x]];

    float top = -FLT_MAX, sum = 0.0f;
    for (size_t begin = threadIdx.x; begin < columns / 4; begin += 4 * blockDim.x) {
        float4 value[4];
        float larger = top;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const size_t v = begin + j * blockDim.x;
            const float none = -CUDART_INF_F;
            value[j] = make_float4(none, none, none, none);
            if (v < columns / 4) value[j] = ((const float4*)x)[v];
            const float4 four = value[j];
            larger = fmaxf(larger, fmaxf(fmaxf(four.x, four.y), fmaxf(four.z, four.w)));
        }
        sum *= expf(top - larger);
        top = larger;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float4 four = value[j];
            sum += expf(four.x - top) + expf(four.y - top) + expf(four.z - top) + expf(four.w - top);
        }
    }
    finish(top, sum, chosen, loss);
}
// ANCHOR_END: packs
