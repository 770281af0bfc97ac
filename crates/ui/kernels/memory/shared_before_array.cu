// The left neighbour of the first element lies before the array: what is there belongs to another one.
// fail: E-OOB-SHARED
// launch: left<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void left(const float* x, float* y) {
    __shared__ float first[32];
    __shared__ float second[32];
    int t = threadIdx.x;
    first[t] = x[t];
    second[t] = 2.0f * x[t];
    __syncthreads();
    y[t] = first[31 - t] + second[t - 1] + first[(t + 1) % 32];
}
