#include "reduce.cuh"

// Without a barrier: a warp reads what other warps may not have written yet.
template <int THREADS, typename Op>
__device__ float reduce_hastily(float value, float (&partial)[WARPS<THREADS>], Op op) {
    value = reduce_lanes<32>(value, op);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32 % WARPS<THREADS>] = value;
    return reduce_lanes<WARPS<THREADS>>(partial[threadIdx.x % 32 % WARPS<THREADS>], op);
}

template <int THREADS>
__device__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    const size_t number = (size_t)blockIdx.x * (blockDim.x / THREADS) + threadIdx.x / THREADS;
    if (number >= rows) return;
    x += number * columns;
    out += number * columns;
    const int first = threadIdx.x % THREADS;

    float sum = 0.0f;
    for (size_t c = first; c < columns; c += THREADS) sum += x[c] * x[c];
    sum = reduce_hastily<THREADS>(sum, sums, Sum());
    const float length = sqrtf(sum) + 1e-12f;
    for (size_t c = first; c < columns; c += THREADS) out[c] = x[c] / length;
}

#define KERNEL(THREADS)                                                                          \
    extern "C" __global__ void l2norm_##THREADS(const float* x, float* out, size_t rows, size_t columns) { \
        l2norm<THREADS>(x, out, rows, columns);                                                              \
    }
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
KERNEL(1024)
