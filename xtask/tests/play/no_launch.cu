// play: x = f32[10] ramp
__global__ void k(float* x) {}
