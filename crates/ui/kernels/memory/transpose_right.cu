// The output has rows of `rows` elements.
// pass
// near: memory/transpose_swapped
// launch: transpose<<<(2,1), (16,16)>>>(in: f32[512], out: f32[512] uninit, rows: i32 = 16, cols: i32 = 32)
extern "C" __global__ void transpose(const float* in, float* out, int rows, int cols) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < rows && col < cols) out[col * rows + row] = in[row * cols + col];
}
