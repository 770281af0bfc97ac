// paly: n = 10
// play: x = flaot[10] ramp
// play: y = f32[10] rampp
// play: grid 4, block 256
__global__ void k(float* x) {}
