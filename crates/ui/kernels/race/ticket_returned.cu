// The last block resets the counter. A function takes the ticket and returns it.
// pass
// near: race/ticket_reset_first
// launch: meet<<<4, 1>>>(count: u32[1] zero, out: u32[1] zero)
__noinline__ __device__ unsigned take(unsigned* count) { return atomicAdd(count, 1); }

extern "C" __global__ void meet(unsigned* count, unsigned* out) {
    if (take(count) == gridDim.x - 1) {
        *count = 0;
        *out = 1;
    }
}
