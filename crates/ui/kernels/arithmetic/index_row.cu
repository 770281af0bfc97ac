// The row's offset is computed in 32 bits: 65536 rows of 65536 elements do not fit.
// fail: L-INDEX-OVERFLOW
// checks: arithmetic
// launch: row<<<1, 32>>>(x: f32[32], y: f32[32] uninit, row: u32 = 65536, cols: u32 = 65536)
extern "C" __global__ void row(const float* x, float* y, unsigned row, unsigned cols) {
    y[threadIdx.x] = x[row * cols + threadIdx.x];
}
