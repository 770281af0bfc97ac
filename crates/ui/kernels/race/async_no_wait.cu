// An asynchronous copy to shared memory is used before anyone has waited for it.
// fail: E-RACE-ASYNC
// launch: stage<<<1, 32>>>(x: f32[128], y: f32[128] uninit)
#include <cuda_pipeline.h>
extern "C" __global__ void stage(const float* x, float* y) {
    __shared__ __align__(16) float tile[128];
    int i = 4 * threadIdx.x;
    *(float4*)&tile[i] = make_float4(0, 0, 0, 0);
    __syncwarp();
    __pipeline_memcpy_async(&tile[i], &x[i], 16);
    __pipeline_commit();
    y[i] = tile[i] + 1.0f;
}
