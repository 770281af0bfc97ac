// A cooperative launch, whose blocks meet in the middle: every block has read its first elements before any block writes.
#include <cooperative_groups.h>

__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const size_t i = grid.thread_rank();
    const float first = i < n ? a[i] + b[i] : 0.0f;
    grid.sync();
    if (i < n) out[i] = gelu(first);
    for (size_t j = i + grid.size(); j < n; j += grid.size()) out[j] = gelu(a[j] + b[j]);
}
