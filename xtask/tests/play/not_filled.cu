// play: x = f32[32]
// play: y = f32[32], print 4
// play: k<<<1, 32>>>(x, y)
__global__ void k(const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] + 1;
}
