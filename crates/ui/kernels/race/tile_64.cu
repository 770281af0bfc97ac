// A tile of two warps meets, by what CUDA's headers keep in the shared memory that the system reserves for them.
// pass
// near: race/tile_64_no_sync
// launch: swap<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void swap(const float* x, float* y) {
    __shared__ float kept[128];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    kept[threadIdx.x] = x[threadIdx.x];
    tile.sync();
    y[threadIdx.x] = kept[threadIdx.x ^ 32];
}
