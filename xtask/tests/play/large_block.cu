// play: x = f32[4096]
// play: k<<<1, 4096>>>(x)
__global__ void k(float* x) {
    x[threadIdx.x] = 1;
}
