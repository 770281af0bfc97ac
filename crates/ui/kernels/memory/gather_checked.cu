// The index is checked before it is used.
// pass
// near: memory/gather_index
// launch: gather<<<1, 64>>>(table: f32[16], index: i32[64] all 16, out: f32[64] uninit, n: i32 = 64)
extern "C" __global__ void gather(const float* table, const int* index, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = index[i] < 16 ? table[index[i]] : 0.0f;
}
