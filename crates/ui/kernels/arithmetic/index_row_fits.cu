// 65536 rows of no elements: the same arithmetic on numbers that fit.
// pass
// near: arithmetic/index_row
// checks: arithmetic
// launch: row<<<1, 32>>>(x: f32[96], y: f32[32] uninit, row: u32 = 2, cols: u32 = 32)
extern "C" __global__ void row(const float* x, float* y, unsigned row, unsigned cols) {
    y[threadIdx.x] = x[row * cols + threadIdx.x];
}
