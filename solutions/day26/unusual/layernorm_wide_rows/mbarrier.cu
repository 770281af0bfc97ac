// Blocks send their sums to each other's mbarriers, which count the bytes; nothing but the beginning is a barrier of all.
#include <cooperative_groups.h>

#include "reduce.cuh"

namespace cg = cooperative_groups;

__device__ unsigned address(const void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

// Sends a float to the same place in the shared memory of another block, and counts it at that block's barrier.
__device__ void send(float value, float* slot, unsigned long long* barrier, int rank) {
    unsigned to, there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address(slot)), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address(barrier)), "r"(rank));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
                 :: "r"(to), "f"(value), "r"(there) : "memory");
}

__device__ float receive(const float* slots, unsigned long long* barrier) {
    unsigned done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(address(barrier)) : "memory");
    }
    float sum = 0.0f;
    for (int rank = 0; rank < 8; rank++) sum += slots[rank];
    return sum;
}

extern "C" __global__ void __cluster_dims__(8, 1, 1)
    layernorm_wide_rows(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                        float* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32], slots[2][8];
    __shared__ unsigned long long barriers[2];
    const cg::cluster_group cluster = cg::this_cluster();
    const int rank = cluster.block_rank(), lane = threadIdx.x;
    if (lane < 2) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(address(&barriers[lane])) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 32;" :: "r"(address(&barriers[lane])) : "memory");
    }
    cluster.sync();
    x += blockIdx.x / 8 * columns;
    out += blockIdx.x / 8 * columns;
    const size_t first = rank * blockDim.x + threadIdx.x, step = 8 * blockDim.x;

    float sum = 0.0f;
    for (size_t c = first; c < columns; c += step) sum += x[c];
    sum = reduce_block(sum, sums, 0.0f, Sum());
    if (lane < 8) send(sum, &slots[0][rank], &barriers[0], lane);
    const float mean = receive(slots[0], &barriers[0]) / columns;

    float square = 0.0f;
    for (size_t c = first; c < columns; c += step) square += (x[c] - mean) * (x[c] - mean);
    square = reduce_block(square, squares, 0.0f, Sum());
    if (lane < 8) send(square, &slots[1][rank], &barriers[1], lane);
    const float factor = rsqrtf(receive(slots[1], &barriers[1]) / columns + 1e-5f);

    for (size_t c = first; c < columns; c += step) out[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}

// Short rows: one block reads its row three times.
extern "C" __global__ void layernorm_wide_rows_short(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    __shared__ float sums[32], squares[32];
    const float* row = x + blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        sum += row[c];
    }
    float mean = reduce_block(sum, sums, 0.0f, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        square += (row[c] - mean) * (row[c] - mean);
    }
    float root = sqrtf(reduce_block(square, squares, 0.0f, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[blockIdx.x * columns + c] = (row[c] - mean) / root * gamma[c] + beta[c];
    }
}
