// Tiles of four warps add up: the headers exchange the warps' sums in the shared memory that is reserved for that.
// pass
// near: race/tile_64_no_sync
// launch: sums<<<1, 256>>>(x: f32[256], y: f32[256] uninit)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void sums(const float* x, float* y) {
    auto tile = cg::tiled_partition<128>(cg::this_thread_block());
    y[threadIdx.x] = cg::reduce(tile, x[threadIdx.x], cg::plus<float>());
}
