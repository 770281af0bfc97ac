// A tile's barrier orders the tile's own threads only, and this reads what the neighbouring tile wrote.
// fail: E-RACE-SHARED
// launch: pairs<<<1, 256>>>(x: f32[256], y: f32[256] uninit)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void pairs(const float* x, float* y) {
    __shared__ float s[256];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    s[t] = x[t];
    tile.sync();
    y[t] = s[t ^ 31];
}
