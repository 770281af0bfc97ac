// A bit for each thread of a block of 64, in 32 bits.
// fail: L-SHIFT
// checks: arithmetic
// launch: bits<<<1, 64>>>(y: u32[64] uninit)
extern "C" __global__ void bits(unsigned* y) {
    y[threadIdx.x] = 1u << threadIdx.x;
}
