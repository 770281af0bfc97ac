// Tiles of 16 threads exchange through shared memory, with the tile's and then the block's own barrier between.
// pass
// near: race/tile_sync_neighbour
// launch: pairs<<<1, 256>>>(x: f32[256], y: f32[256] uninit)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void pairs(const float* x, float* y) {
    __shared__ float s[256];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int t = threadIdx.x;
    s[t] = x[t];
    tile.sync();
    float v = s[t ^ 15];
    tile.sync();
    s[t] = v;
    v = cg::reduce(tile, v, cg::plus<float>());
    block.sync();
    y[t] = v + s[255 - t];
}
