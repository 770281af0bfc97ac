// The same kernel with two buffers.
// pass
// near: race/restrict_alias
// launch: smooth<<<1, 64>>>(x: f32[512], y: f32[512] zero, rows: i32 = 8)
extern "C" __global__ void smooth(const float* __restrict__ in, float* __restrict__ out, int rows) {
    int t = threadIdx.x;
    for (int row = 1; row < rows; row++) {
        out[row * 64 + t] = 0.5f * (in[row * 64 + t] + in[(row - 1) * 64 + t]);
    }
}
