// Sixteen tiles of four parts, a counter each in one line of memory. The last block of a tile resets its counter.
// pass
// near: race/ticket_tiles_early
// launch: meet<<<64, 32>>>(count: u32[16] zero, out: u32[16] zero)
extern "C" __global__ void meet(unsigned* count, unsigned* out) {
    __shared__ bool last;
    int tile = blockIdx.x / 4;
    if (threadIdx.x == 0) last = atomicAdd(&count[tile], 1) == 3;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        count[tile] = 0;
        out[tile] = 1;
    }
}
