// An index from memory that no one has checked: every third one lies past the table.
// fail: E-OOB-GLOBAL
// launch: gather<<<1, 64>>>(table: f32[16], index: i32[64] all 16, out: f32[64] uninit, n: i32 = 64)
extern "C" __global__ void gather(const float* table, const int* index, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = i % 3 ? 0.0f : table[index[i]];
}
