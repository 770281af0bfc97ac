// Maximum and sum in one go: a sum is scaled whenever the maximum grows.
#include <math_constants.h>

// A maximum, and a sum of exponentials relative to it.
struct Part {
    float top, sum;
};

__device__ Part join(Part a, Part b) {
    const float top = fmaxf(a.top, b.top);
    if (top == -CUDART_INF_F) return a;
    return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top)};
}

extern "C" __global__ void __launch_bounds__(128) softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ Part parts[128];
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        Part own = {-CUDART_INF_F, 0.0f};
        for (size_t c = threadIdx.x; c < columns; c += 128) own = join(own, {x[row * columns + c], 1.0f});
        parts[threadIdx.x] = own;
        __syncthreads();
        for (int half = 64; half > 0; half /= 2) {
            if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
            __syncthreads();
        }
        const Part all = parts[0];
        __syncthreads();
        for (size_t c = threadIdx.x; c < columns; c += 128) {
            out[row * columns + c] = expf(x[row * columns + c] - all.top) / all.sum;
        }
    }
}
