// A mistake made on purpose: without a barrier, a thread reads what another thread has not written yet.
// `cargo xtask play` shows both lines. Write `__syncthreads();` between them, and play it again.
//
// play: x = f32[128] ramp
// play: y = f32[128], print 8
// play: reverse<<<2, 64>>>(x, y)

__global__ void reverse(const float* x, float* y) {
    __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    y[i] = tile[63 - threadIdx.x];
}
