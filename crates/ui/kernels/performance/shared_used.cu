// The tile is larger than what most blocks need, and one block needs all of it.
// pass
// near: performance/shared_unused
// checks: performance
// launch: twice<<<1056, 128, 32768>>>(x: f32[540672], y: f32[540672] uninit)
extern "C" __global__ void twice(const float4* x, float4* y) {
    extern __shared__ float4 tile[];
    int i = blockIdx.x * 128 + threadIdx.x;
    int first = blockIdx.x == 17 ? 1920 : 0;
    tile[first + threadIdx.x] = x[i];
    __syncthreads();
    float4 a = tile[first + threadIdx.x], b = tile[first + 127 - threadIdx.x];
    y[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
