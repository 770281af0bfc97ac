// grid.sync() in a launch that is not cooperative.
// fail: E-COOPERATIVE
// launch: phases<<<4, 32>>>(x: f32[128], mid: f32[128] zero, y: f32[128] uninit)
#include <cooperative_groups.h>
extern "C" __global__ void phases(const float* x, float* mid, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mid[i] = x[i] * x[i];
    cooperative_groups::this_grid().sync();
    y[i] = mid[127 - i];
}
