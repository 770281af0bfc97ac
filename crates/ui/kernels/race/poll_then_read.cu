// Each block waits until all have counted; what it has read with a volatile load precedes its plain one.
// pass
// near: race/count_then_read
// launch: meet<<<4, 32>>>(count: u32[1] zero, out: u32[4] uninit)
extern "C" __global__ void meet(unsigned* count, unsigned* out) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (*(volatile unsigned*)count < gridDim.x) { }
        out[blockIdx.x] = *count;
    }
}
