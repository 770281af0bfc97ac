// fail: E-UNMAPPED, L-INDEX-OVERFLOW
// checks: arithmetic
// launch: add_to_row<<<1, 32>>>(x: f32[1024], held: i32 = 1024, row: i32 = 65536, columns: i32 = 40000)
// Adds one to the first 32 elements of a row of a large matrix. Of the matrix only the first `held` elements are here.
extern "C" __global__ void add_to_row(float* x, int held, int row, int columns) {
    int i = row * columns + threadIdx.x;
    if (i < held) x[i] += 1.0f;
}
