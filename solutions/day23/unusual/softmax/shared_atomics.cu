// The maximum by atomics on shared memory, of the lane that stands for its warp; the sum by an atomic addition for each warp.
#include "reduce.cuh"

// Integers in the order of the floats.
__device__ int ordered(float f) {
    const int bits = __float_as_int(f);
    return bits >= 0 ? bits : bits ^ 0x7fffffff;
}

__device__ float unordered(int order) { return __int_as_float(order >= 0 ? order : order ^ 0x7fffffff); }

extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ int top;
    __shared__ float sum;
    if (threadIdx.x == 0) {
        top = 0x80000000;
        sum = 0.0f;
    }
    __syncthreads();
    x += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const unsigned int active = __activemask();
        const int largest = __reduce_max_sync(active, ordered(x[c]));
        if (threadIdx.x % 32 == __ffs(active) - 1) atomicMax(&top, largest);
    }
    __syncthreads();
    const float subtract = unordered(top);
    float own = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) own += expf(x[c] - subtract);
    own = reduce_lanes<32>(own, Sum());
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
    __syncthreads();
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(x[c] - subtract) / sum;
}
