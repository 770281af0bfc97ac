// The block that takes the last ticket puts the counter back: its atomic has seen those of all the others.
// pass
// near: race/ticket_reset_first
// launch: tickets<<<16, 32>>>(ticket: u32[1] zero)
extern "C" __global__ void tickets(unsigned* ticket) {
    if (threadIdx.x == 0) {
        if (atomicAdd(ticket, 1) == gridDim.x - 1) *ticket = 0;
    }
}
