// Asynchronous copies and cache operators.
#include <cuda_pipeline.h>

extern "C" __global__ void copies(float4 *out, const float4 *in) {
    __shared__ float4 stage[2][64];
    __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_memcpy_async(&stage[1][threadIdx.x], &in[threadIdx.x + 64], 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __pipeline_wait_prior(0);
    __syncthreads();
    __stcs(&out[threadIdx.x], stage[0][threadIdx.x]);
    __stwt(&out[64], __ldcg(&in[3]));
    out[65] = __ldlu(&in[4]);
}
