// The stride is the length of a row.
// pass
// near: memory/softmax_row_stride
// launch: row_max<<<4, 32>>>(x: f32[384], y: f32[4] uninit, cols: i32 = 96, stride: i32 = 96)
extern "C" __global__ void row_max(const float* x, float* y, int cols, int stride) {
    float m = -1e30f;
    for (int c = threadIdx.x; c < cols; c += 32) m = fmaxf(m, x[blockIdx.x * stride + c]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    if (threadIdx.x == 0) y[blockIdx.x] = m;
}
