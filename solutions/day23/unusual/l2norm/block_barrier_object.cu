// A barrier of `<cuda/barrier>` in shared memory in the place of `__syncthreads`.
#include <cuda/barrier>

#include "reduce.cuh"

extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier barrier;
    __shared__ float partial[32];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    x += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c] * x[c];
    sum = reduce_lanes<32>(sum, Sum());
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    barrier.arrive_and_wait();
    sum = 0.0f;
    for (int warp = 0; warp < blockDim.x / 32; warp++) sum += partial[warp];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = x[c] / (sqrtf(sum) + 1e-12f);
}
