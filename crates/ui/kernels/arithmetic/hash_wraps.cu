// A hash wraps on purpose before it is cut to the table's size.
// pass
// near: arithmetic/index_bytes
// checks: arithmetic
// launch: probe<<<1, 32>>>(table: f32[64], keys: u32[32], y: f32[32] uninit)
extern "C" __global__ void probe(const float* table, const unsigned* keys, float* y) {
    unsigned h = keys[threadIdx.x] * 2654435761u;
    y[threadIdx.x] = table[h >> 26];
}
