// play: x = f32[10] ramp
// play: k<<<1, 32>>>(x)
__global__ void k(float* x) {
    x[threadIdx.x] = 1
}
