// The 16 weights repeat.
// pass
// near: memory/constant_index
// launch: weigh<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
__constant__ float weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
extern "C" __global__ void weigh(const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] * weights[i % 16];
}
