// The row, or the first 16,384 elements of it, in 64 KiB of shared memory, which a kernel has only if it asks for it.
#include "reduce.cuh"

extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    extern __shared__ float kept[];
    __shared__ float partial[32];
    const size_t room = 16384;
    x += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float value = x[c];
        if (c < room) kept[c] = value;
        sum += value * value;
    }
    sum = reduce_block(sum, partial, 0.0f, Sum());
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[c] = (c < room ? kept[c] : x[c]) / (sqrtf(sum) + 1e-12f);
    }
}
