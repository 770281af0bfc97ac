// Hundreds of blocks meet twice. Waiting for each other is no part of what they may execute.
// pass
// near: sync/grid_sync_one_block
// launch: phases<<<528, 128>>>(x: f32[128], mid: f32[528] zero, y: f32[528] uninit) cooperative
#include <cooperative_groups.h>
extern "C" __global__ void phases(const float* x, float* mid, float* y) {
    if (threadIdx.x == 0) mid[blockIdx.x] = x[blockIdx.x % 128];
    cooperative_groups::this_grid().sync();
    float next = mid[(blockIdx.x + 1) % gridDim.x];
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) y[blockIdx.x] = 2.0f * next;
}
