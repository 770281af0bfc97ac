// In 64 bits, a shift by 32 is none too many.
// pass
// near: arithmetic/shift_all
// checks: arithmetic
// launch: upper<<<1, 32>>>(x: u32[32], y: u32[32] uninit, bits: i32 = 0)
extern "C" __global__ void upper(const unsigned* x, unsigned* y, int bits) {
    y[threadIdx.x] = (unsigned)((unsigned long long)x[threadIdx.x] >> (32 - bits));
}
