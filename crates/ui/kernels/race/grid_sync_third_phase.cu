// The second phase reads what the third one, which no barrier of the grid parts from it, overwrites.
// fail: E-RACE-BLOCKS
// launch: phases<<<20, 64>>>(a: f32[1280], b: f32[1280] uninit) cooperative
#include <cooperative_groups.h>
extern "C" __global__ void phases(float* a, float* b) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank(), n = grid.num_threads();
    b[i] = a[n - 1 - i] + 1.0f;
    grid.sync();
    a[i] = b[n - 1 - i] + 1.0f;
    b[i] = 1.0f;
}
