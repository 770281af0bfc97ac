#include "reduce.cuh"

// Without a barrier: a warp reads what other warps may not have written yet.
template <int THREADS, typename Op>
__device__ float reduce_hastily(float value, float (&partial)[WARPS<THREADS>], Op op) {
    value = reduce_lanes<32>(value, op);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32 % WARPS<THREADS>] = value;
    return reduce_lanes<WARPS<THREADS>>(partial[threadIdx.x % 32 % WARPS<THREADS>], op);
}

template <int THREADS>
__device__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float maxima[WARPS<THREADS>], sums[WARPS<THREADS>];
    const size_t number = (size_t)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;
    const int first = threadIdx.x % THREADS;

    float top = __int_as_float(0xff800000);
    for (size_t c = first; c < columns; c += THREADS) top = fmaxf(top, x[c]);
    top = reduce_hastily<THREADS>(top, maxima, Max());
    float sum = 0.0f;
    for (size_t c = first; c < columns; c += THREADS) sum += expf(x[c] - top);
    sum = reduce_hastily<THREADS>(sum, sums, Sum());
    for (size_t c = first; c < columns; c += THREADS) out[c] = expf(x[c] - top) / sum;
}

#define KERNEL(THREADS)                                                                          \
    extern "C" __global__ void softmax_##THREADS(const float* x, float* out, size_t rows, size_t columns) { \
        softmax<THREADS>(x, out, rows, columns);                                                              \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
