// The softmax of a row of scores times a column of values, in several ways.
#include <cuda_bf16.h>
#include <math_constants.h>

// ANCHOR: trace
// One row, by one thread, which writes after each tile what it knows: the largest score of the
// tile, the largest so far, the correction, the sum and the result so far.
extern "C" __global__ void trace(const float* scores, const float* values, int length, int tile,
                                 float* out) {
    float largest = -CUDART_INF_F, sum = 0.0f, result = 0.0f;
    for (int first = 0; first < length; first += tile) {
        const int end = min(first + tile, length);
        float of_tile = -CUDART_INF_F;
        for (int i = first; i < end; i++) of_tile = fmaxf(of_tile, scores[i]);
        const float before = largest;
        largest = fmaxf(largest, of_tile);
        const float correction = expf(before - largest);
        sum *= correction;
        result *= correction;
        for (int i = first; i < end; i++) {
            const float weight = expf(scores[i] - largest);
            sum += weight;
            result += weight * values[i];
        }
        float* known = &out[first / tile * 5];
        known[0] = of_tile, known[1] = largest, known[2] = correction;
        known[3] = sum, known[4] = result;
    }
}
// ANCHOR_END: trace

// A thread for each row. All rows have the same values.
struct Row {
    const float* scores;
    const float* values;
    int length;
};

__device__ Row row_of(const float* scores, const float* values, int length) {
    return {&scores[threadIdx.x * length], values, length};
}

// ANCHOR: two_passes
// First the largest score of the row, then the sums.
template <bool ROUNDED>
__device__ float in_two_passes(const Row& row) {
    const auto score = [&](int i) {
        return ROUNDED ? __bfloat162float(__float2bfloat16(row.scores[i])) : row.scores[i];
    };
    float largest = -CUDART_INF_F, sum = 0.0f, result = 0.0f;
    for (int i = 0; i < row.length; i++) largest = fmaxf(largest, score(i));
    for (int i = 0; i < row.length; i++) {
        const float weight = expf(score(i) - largest);
        sum += weight;
        result += weight * row.values[i];
    }
    return result / sum;
}
// ANCHOR_END: two_passes

// ANCHOR: online
// Tiles of TILE scores in one pass. CORRECTED says whether the sums are corrected where the
// largest score changes, and FIRST is the largest score before the first tile.
template <int TILE, bool CORRECTED>
__device__ float in_one_pass(const Row& row, float first) {
    float largest = first, sum = 0.0f, result = 0.0f;
    for (int tile = 0; tile < row.length; tile += TILE) {
        const int end = min(tile + TILE, row.length);
        const float before = largest;
        for (int i = tile; i < end; i++) largest = fmaxf(largest, row.scores[i]);
        if (CORRECTED) {
            const float correction = expf(before - largest);
            sum *= correction;
            result *= correction;
        }
        for (int i = tile; i < end; i++) {
            const float weight = expf(row.scores[i] - largest);
            sum += weight;
            result += weight * row.values[i];
        }
    }
    return result / sum;
}
// ANCHOR_END: online

// ANCHOR: as_they_are
// Exponentials of the scores as they are.
__device__ float as_they_are(const Row& row) {
    float sum = 0.0f, result = 0.0f;
    for (int i = 0; i < row.length; i++) {
        const float weight = expf(row.scores[i]);
        sum += weight;
        result += weight * row.values[i];
    }
    return result / sum;
}
// ANCHOR_END: as_they_are

// The sums of the same for each row, before they are divided: l and o.
extern "C" __global__ void sums(const float* scores, const float* values, int length, int tile,
                                float* out) {
    const Row row = row_of(scores, values, length);
    float sum = 0.0f, result = 0.0f;
    for (int i = 0; i < row.length; i++) {
        sum += expf(row.scores[i]);
        result += expf(row.scores[i]) * row.values[i];
    }
    out[2 * threadIdx.x] = sum;
    out[2 * threadIdx.x + 1] = result;
}

#define KERNEL(NAME, EXPRESSION)                                                              \
    extern "C" __global__ void NAME(const float* scores, const float* values, int length,     \
                                    int tile, float* out) {                                   \
        const Row row = row_of(scores, values, length);                                       \
        out[threadIdx.x] = EXPRESSION;                                                        \
    }
KERNEL(two_passes, in_two_passes<false>(row))
KERNEL(two_passes_rounded, in_two_passes<true>(row))
KERNEL(online_32, (in_one_pass<32, true>(row, -CUDART_INF_F)))
KERNEL(online_1, (in_one_pass<1, true>(row, -CUDART_INF_F)))
KERNEL(not_corrected, (in_one_pass<32, false>(row, -CUDART_INF_F)))
KERNEL(from_zero, (in_one_pass<32, true>(row, 0.0f)))
KERNEL(no_largest, as_they_are(row))
