// A pointer is read from memory that holds numbers.
// fail: E-UNMAPPED
// launch: follow<<<1, 32>>>(table: u64[32] all 1311768467463790320, y: f32[32] uninit)
extern "C" __global__ void follow(const unsigned long long* table, float* y) {
    const float* p = reinterpret_cast<const float*>(table[threadIdx.x]);
    y[threadIdx.x] = *p;
}
