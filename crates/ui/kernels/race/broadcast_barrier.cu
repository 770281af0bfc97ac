// They wait for it.
// pass
// near: race/broadcast
// launch: normalise<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void normalise(const float* x, float* y) {
    __shared__ float scale;
    if (threadIdx.x == 0) scale = 1.0f / x[63];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] * scale;
}
