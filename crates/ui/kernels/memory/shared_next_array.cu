// Two shared arrays, and the halo of the first is stored past its end: into the second one.
// fail: E-OOB-SHARED
// launch: blur<<<1, 32>>>(x: f32[33], w: f32[32], y: f32[32] uninit)
extern "C" __global__ void blur(const float* x, const float* w, float* y) {
    __shared__ float tile[32];
    __shared__ float weight[32];
    int t = threadIdx.x;
    weight[t] = w[t];
    __syncthreads();
    tile[t] = x[t];
    if (t == 31) tile[t + 1] = x[t + 1];
    __syncthreads();
    y[t] = tile[t] * weight[31 - t];
}
