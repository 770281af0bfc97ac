// A warp for each row, eight of them in a block, and no barrier.
#include <math_constants.h>

#include "reduce.cuh"

extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    const size_t row = (size_t)blockIdx.x * 8 + threadIdx.y;
    if (row >= rows) return;
    x += row * columns;
    out += row * columns;
    float top = -CUDART_INF_F;
    for (size_t c = threadIdx.x; c < columns; c += 32) top = fmaxf(top, x[c]);
    top = reduce_lanes<32>(top, Max());
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += 32) sum += expf(x[c] - top);
    sum = reduce_lanes<32>(sum, Sum());
    for (size_t c = threadIdx.x; c < columns; c += 32) out[c] = expf(x[c] - top) / sum;
}
