// The block that takes the first ticket puts the counter back, while others still take theirs.
// fail: E-RACE-BLOCKS
// launch: tickets<<<16, 32>>>(ticket: u32[1] zero)
extern "C" __global__ void tickets(unsigned* ticket) {
    if (threadIdx.x == 0) {
        if (atomicAdd(ticket, 1) == 0) *ticket = 0;
    }
}
