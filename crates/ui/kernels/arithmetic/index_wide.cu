// The product is made in 64 bits; the guard then sees what it is.
// pass
// near: arithmetic/index_signed
// checks: arithmetic
// launch: row<<<1, 32>>>(x: f32[32], y: f32[32] zero, row: i32 = 131072, cols: i32 = 65536)
extern "C" __global__ void row(const float* x, float* y, int row, int cols) {
    size_t i = (size_t)row * cols + threadIdx.x;
    if (i < 32) y[threadIdx.x] = x[i];
}
