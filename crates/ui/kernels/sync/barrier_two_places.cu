// The first warp waits at one __syncthreads, the second at another: to the hardware they are the same barrier.
// fail: E-BARRIER-MISMATCH
// launch: roles<<<1, 64>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void roles(const float* x, float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    if (t < 32) {
        tile[t] = x[t];
        __syncthreads();
    } else {
        __syncthreads();
        y[t - 32] = tile[63 - t];
    }
}
