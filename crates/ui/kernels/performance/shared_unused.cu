// The bytes of the tile are counted as if each element were a row of them.
// fail: P-SHARED-UNUSED
// checks: performance
// launch: twice<<<2112, 128, 32768>>>(x: f32[1081344], y: f32[1081344] uninit)
extern "C" __global__ void twice(const float4* x, float4* y) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    float4 a = tile[threadIdx.x], b = tile[127 - threadIdx.x];
    y[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
