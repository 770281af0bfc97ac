// A barrier of the grid orders the two phases, but the read-only path does not see what the first has written.
// fail: E-NC-WRITTEN
// launch: phases<<<4, 64>>>(x: f32[256], y: f32[256] uninit) cooperative
#include <cooperative_groups.h>
extern "C" __global__ void phases(float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1.0f;
    cooperative_groups::this_grid().sync();
    y[i] = __ldg(&x[255 - i]);
}
