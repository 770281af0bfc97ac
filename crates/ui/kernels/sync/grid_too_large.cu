// A cooperative launch of more blocks than the device runs at once.
// fail: E-COOPERATIVE
// launch: phases<<<100000, 1024>>>(x: f32[128], y: f32[128] zero) cooperative
#include <cooperative_groups.h>
extern "C" __global__ void phases(const float* x, float* y) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x < 128) y[threadIdx.x] = x[threadIdx.x];
}
