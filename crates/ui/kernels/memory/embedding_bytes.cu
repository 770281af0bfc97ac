// An offset in bytes is used as an offset in elements.
// fail: E-OOB-GLOBAL
// launch: row_of<<<1, 32>>>(table: f32[1024], out: f32[32] uninit, row: i32 = 20)
extern "C" __global__ void row_of(const float* table, float* out, int row) {
    size_t offset = row * 32 * sizeof(float);
    out[threadIdx.x] = table[offset + threadIdx.x];
}
