// A signed product goes past 2^31, becomes negative, and passes the guard.
// fail: L-INDEX-OVERFLOW
// checks: arithmetic
// launch: row<<<1, 32>>>(x: f32[32], y: f32[32] uninit, row: i32 = 131072, cols: i32 = 65536)
extern "C" __global__ void row(const float* x, float* y, int row, int cols) {
    int i = row * cols + (int)threadIdx.x;
    if (i < 32) y[threadIdx.x] = x[i];
}
