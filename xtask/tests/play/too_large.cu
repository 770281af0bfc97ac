// play: x = f32[1 << 30] ramp
// play: y = f64[1000]
// play: k<<<1, 32>>>(x)
__global__ void k(float* x) {}
