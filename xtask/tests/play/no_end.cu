// play: x = f32[32]
// play: k<<<1, 32>>>(x)
__global__ void k(volatile float* x) {
    while (true) {
        x[threadIdx.x] = 1;
    }
}
