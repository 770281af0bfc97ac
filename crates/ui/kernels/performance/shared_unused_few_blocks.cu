// As much is asked for, and an SM has one block whatever there is room for.
// pass
// near: performance/shared_unused
// checks: performance
// launch: twice<<<132, 128, 32768>>>(x: f32[67584], y: f32[67584] uninit)
extern "C" __global__ void twice(const float4* x, float4* y) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    float4 a = tile[threadIdx.x], b = tile[127 - threadIdx.x];
    y[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
