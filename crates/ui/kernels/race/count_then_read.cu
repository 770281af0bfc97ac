// Each block counts and then reads the counter without an atomic, while others still count.
// fail: E-RACE-BLOCKS
// launch: meet<<<4, 32>>>(count: u32[1] zero, out: u32[4] uninit)
extern "C" __global__ void meet(unsigned* count, unsigned* out) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        out[blockIdx.x] = *count;
    }
}
