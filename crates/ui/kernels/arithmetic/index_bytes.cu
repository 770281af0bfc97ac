// An offset in bytes, in 32 bits: 2^30 floats are 2^32 bytes.
// fail: L-INDEX-OVERFLOW
// checks: arithmetic
// launch: load<<<1, 32>>>(x: f32[32], y: f32[32] uninit, at: u32 = 1073741824)
extern "C" __global__ void load(const char* x, float* y, unsigned at) {
    unsigned offset = (at + threadIdx.x) * 4u;
    y[threadIdx.x] = *reinterpret_cast<const float*>(x + offset);
}
