// The block that comes third resets the counter of four: the fourth may come at any time.
// fail: E-RACE-BLOCKS
// launch: meet<<<64, 32>>>(count: u32[16] zero, out: u32[16] zero)
extern "C" __global__ void meet(unsigned* count, unsigned* out) {
    __shared__ bool last;
    int tile = blockIdx.x / 4;
    if (threadIdx.x == 0) last = atomicAdd(&count[tile], 1) == 2;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        count[tile] = 0;
        out[tile] = 1;
    }
}
