// Reductions by cooperative groups: within a tile of 32 threads, and over the tiles of a block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <math_constants.h>

namespace cg = cooperative_groups;

template <typename Op>
__device__ float reduce(const cg::thread_block& block, float value, float none, float* shared, Op op) {
    const auto tile = cg::tiled_partition<32>(block);
    value = cg::reduce(tile, value, op);
    if (tile.thread_rank() == 0) shared[tile.meta_group_rank()] = value;
    block.sync();
    value = tile.thread_rank() < tile.meta_group_size() ? shared[tile.thread_rank()] : none;
    value = cg::reduce(tile, value, op);
    block.sync();
    return value;
}

extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float shared[32];
    const cg::thread_block block = cg::this_thread_block();
    x += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    float top = -CUDART_INF_F, sum = 0.0f;
    for (size_t c = block.thread_rank(); c < columns; c += block.size()) top = fmaxf(top, x[c]);
    top = reduce(block, top, -CUDART_INF_F, shared, cg::greater<float>());
    for (size_t c = block.thread_rank(); c < columns; c += block.size()) sum += expf(x[c] - top);
    sum = reduce(block, sum, 0.0f, shared, cg::plus<float>());
    for (size_t c = block.thread_rank(); c < columns; c += block.size()) out[c] = expf(x[c] - top) / sum;
}
