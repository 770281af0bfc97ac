// play: x = i32[10] ramp
// play: kk<<<1, 32>>>(x)
// play: k<<<1, 32>>>(x, 4)
// play: k<<<1, 32>>>(3)
__global__ void k(float* x) {}
