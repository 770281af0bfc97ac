// Many grid barriers in a loop: a relaxation that goes back and forth between two buffers.
// pass
// near: race/grid_phases
// launch: relax<<<4, 32>>>(a: f32[128], b: f32[128] uninit, steps: i32 = 4) cooperative
#include <cooperative_groups.h>
extern "C" __global__ void relax(float* a, float* b, int steps) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    for (int s = 0; s < steps; s++) {
        b[i] = 0.5f * (a[max(i - 1, 0)] + a[min(i + 1, 127)]);
        grid.sync();
        float* t = a; a = b; b = t;
    }
}
