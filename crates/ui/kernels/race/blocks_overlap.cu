// Blocks of 32 threads that are 31 elements apart: neighbours write one element twice, with different values.
// fail: E-RACE-BLOCKS
// launch: number<<<4, 32>>>(y: f32[128] zero)
extern "C" __global__ void number(float* y) {
    y[blockIdx.x * 31 + threadIdx.x] = blockIdx.x;
}
