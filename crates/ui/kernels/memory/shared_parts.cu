// Dynamic shared memory is one array, however a kernel divides it.
// pass
// near: memory/shared_next_array
// launch: parts<<<1, 32, 256>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void parts(const float* x, float* y) {
    extern __shared__ float pool[];
    __shared__ float scale[2];
    float* first = pool;
    float* second = pool + blockDim.x;
    int t = threadIdx.x;
    if (t < 2) scale[t] = 1.0f + t;
    first[t] = x[t];
    second[t] = -x[t];
    __syncthreads();
    y[t] = first[63 - t] * scale[t % 2] + second[31 - t - 32 + 32];
}
