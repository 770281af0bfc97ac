// A tile of two warps is made, and nothing orders its warps behind that.
// fail: E-RACE-SHARED
// launch: swap<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void swap(const float* x, float* y) {
    __shared__ float kept[128];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    kept[threadIdx.x] = x[threadIdx.x] + tile.meta_group_rank();
    y[threadIdx.x] = kept[threadIdx.x ^ 32];
}
