// Each thread waits for its own copies and then reads those of others: a wait is no barrier.
// fail: E-RACE-SHARED
// launch: stage<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
#include <cuda_pipeline.h>
extern "C" __global__ void stage(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = 0.0f;
    __syncthreads();
    __pipeline_memcpy_async(&tile[t], &x[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = tile[63 - t];
}
