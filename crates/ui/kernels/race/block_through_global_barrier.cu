// __syncthreads orders global memory within the block too.
// pass
// near: race/block_through_global
// launch: rotate<<<1, 64>>>(x: f32[64], scratch: f32[64] zero, y: f32[64] uninit)
extern "C" __global__ void rotate(const float* x, float* scratch, float* y) {
    int t = threadIdx.x;
    scratch[t] = x[t] * x[t];
    __syncthreads();
    y[t] = scratch[(t + 33) % 64];
}
