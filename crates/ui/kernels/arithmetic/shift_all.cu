// The upper bits are kept by a shift of 32 minus their number, which is zero here.
// fail: L-SHIFT
// checks: arithmetic
// launch: upper<<<1, 32>>>(x: u32[32], y: u32[32] uninit, bits: i32 = 0)
extern "C" __global__ void upper(const unsigned* x, unsigned* y, int bits) {
    y[threadIdx.x] = x[threadIdx.x] >> (32 - bits);
}
