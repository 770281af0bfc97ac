// 32 elements apart.
// pass
// near: race/blocks_overlap
// launch: number<<<4, 32>>>(y: f32[128] zero)
extern "C" __global__ void number(float* y) {
    y[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
}
