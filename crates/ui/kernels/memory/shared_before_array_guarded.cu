// The first element has no left neighbour, and none is read.
// pass
// near: memory/shared_before_array
// launch: left<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void left(const float* x, float* y) {
    __shared__ float first[32];
    __shared__ float second[32];
    int t = threadIdx.x;
    first[t] = x[t];
    second[t] = 2.0f * x[t];
    __syncthreads();
    y[t] = first[31 - t] + (t > 0 ? second[t - 1] : 0.0f) + first[(t + 1) % 32];
}
