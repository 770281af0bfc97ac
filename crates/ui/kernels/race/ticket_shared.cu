// The thread that takes the block's last ticket reads the counter and puts it back for the next round.
// pass
// near: race/ticket_shared_first
// launch: tickets<<<2, 128>>>(out: u32[2] uninit)
extern "C" __global__ void tickets(unsigned* out) {
    __shared__ unsigned done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    if (atomicAdd(&done, 1) == blockDim.x - 1) {
        out[blockIdx.x] = done;
        done = 0;
    }
}
