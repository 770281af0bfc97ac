// A bit for each lane of a warp.
// pass
// near: arithmetic/shift_lane
// checks: arithmetic
// launch: bits<<<1, 64>>>(y: u32[64] uninit)
extern "C" __global__ void bits(unsigned* y) {
    y[threadIdx.x] = 1u << (threadIdx.x % 32);
}
