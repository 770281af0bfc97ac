// Only odd threads take the branch with the barrier; the even ones go around it and on to the store.
// fail: E-BARRIER-DIVERGENT
// launch: odd<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void odd(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    if (t % 2) {
        tile[t] += 1.0f;
        __syncthreads();
    }
    y[t] = tile[t];
}
