// A pipeline of two stages that waits for all but the newest two groups: the one that it needs is still under way.
// fail: E-RACE-ASYNC
// launch: stream<<<1, 32>>>(x: f32[256], y: f32[32] uninit, tiles: i32 = 8)
#include <cuda_pipeline.h>
extern "C" __global__ void stream(const float* x, float* y, int tiles) {
    __shared__ float tile[2][32];
    int t = threadIdx.x;
    float sum = 0.0f;
    tile[0][t] = tile[1][t] = 0.0f;
    __pipeline_memcpy_async(&tile[0][t], &x[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&tile[(k + 1) & 1][t], &x[32 * (k + 1) + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        sum += tile[k & 1][t];
    }
    y[t] = sum;
}
