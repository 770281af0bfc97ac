// The parts of sixteen tiles come in turn: other tiles are counted between one part of a tile and the next.
// pass
// near: race/ticket_tiles_early
// launch: meet<<<64, 32>>>(count: u32[16] zero, out: u32[16] zero)
extern "C" __global__ void meet(unsigned* count, unsigned* out) {
    __shared__ bool last;
    int tile = blockIdx.x % 16;
    if (threadIdx.x == 0) last = atomicAdd(&count[tile], 1) == 3;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        count[tile] = 0;
        out[tile] = 1;
    }
}
