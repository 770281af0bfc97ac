// A warp for each row, four in a block, with the online form and minus infinity for what has not begun.
#include <math_constants.h>

extern "C" __global__ void cross_entropy(const float* x, const int* labels, float* loss, size_t rows, size_t columns) {
    size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    int label = labels[row];
    if (label == -100) {
        if (lane == 0) loss[row] = 0.0f;
        return;
    }

    float m = -CUDART_INF_F, s = 0.0f;
    for (size_t c = lane; c < columns; c += 32) {
        float v = x[row * columns + c];
        if (v > m) {
            s = s * expf(m - v) + 1.0f;
            m = v;
        } else {
            s += expf(v - m);
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        float other_m = __shfl_xor_sync(0xffffffffu, m, offset);
        float other_s = __shfl_xor_sync(0xffffffffu, s, offset);
        float larger = fmaxf(m, other_m);
        if (larger > -CUDART_INF_F) {
            s = s * expf(m - larger) + other_s * expf(other_m - larger);
            m = larger;
        }
    }
    if (lane == 0) loss[row] = m + logf(s) - x[row * columns + label];
}
