// As many blocks as the GPU has room for, each of which goes on to further rows; eight elements at once.
#include <math_constants.h>

#include "reduce.cuh"

extern "C" __global__ void __launch_bounds__(512) cross_entropy(const float* __restrict__ x, const int* __restrict__ labels, float* __restrict__ loss, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int label = labels[row];
        if (label < 0) {
            if (threadIdx.x == 0) loss[row] = 0.0f;
            continue;
        }
        const float* here = x + row * columns;
        float top = -CUDART_INF_F, sum = 0.0f;
        for (size_t begin = 0; begin < columns; begin += 8 * 512) {
            float value[8], larger = top;
            for (int j = 0; j < 8; j++) {
                const size_t c = begin + 512 * j + threadIdx.x;
                value[j] = c < columns ? here[c] : -CUDART_INF_F;
                larger = fmaxf(larger, value[j]);
            }
            if (larger == -CUDART_INF_F) break;
            sum *= expf(top - larger);
            top = larger;
            for (int j = 0; j < 8; j++) sum += expf(value[j] - top);
        }
        const float largest = reduce_block(top, maxima, -CUDART_INF_F, Max());
        const float total = reduce_block(sum * expf(top - largest), sums, 0.0f, Sum());
        if (threadIdx.x == 0) loss[row] = (logf(total) + largest) - here[label];
        __syncthreads();  // the arrays are used again
    }
}
