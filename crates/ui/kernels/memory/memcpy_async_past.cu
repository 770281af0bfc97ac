// A copy of 16 bytes to shared memory whose last thread begins 4 bytes before the end.
// fail: E-OOB-GLOBAL
// launch: stage<<<1, 32>>>(x: f32[121], y: f32[128] uninit)
#include <cuda_pipeline.h>
extern "C" __global__ void stage(const float* x, float* y) {
    __shared__ __align__(16) float tile[128];
    int i = 4 * threadIdx.x;
    if (i < 121) __pipeline_memcpy_async(&tile[i], &x[i], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (i < 121) y[i] = tile[i];
}
