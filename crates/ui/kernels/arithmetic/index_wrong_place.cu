// The overflowed index is negative, and nothing guards it: the access goes astray.
// fail: E-OOB-GLOBAL, L-INDEX-OVERFLOW
// checks: arithmetic
// launch: row<<<1, 32>>>(x: f32[32], y: f32[32] uninit, row: i32 = 1048575, cols: i32 = 4096)
extern "C" __global__ void row(const float* x, float* y, int row, int cols) {
    int i = row * cols + (int)threadIdx.x;
    y[threadIdx.x] = x[i];
}
