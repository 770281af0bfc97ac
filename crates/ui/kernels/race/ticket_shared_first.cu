// The thread that takes the block's first ticket reads the counter while others still count.
// fail: E-RACE-SHARED
// launch: tickets<<<2, 128>>>(out: u32[2] uninit)
extern "C" __global__ void tickets(unsigned* out) {
    __shared__ unsigned done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    if (atomicAdd(&done, 1) == 0) out[blockIdx.x] = done;
}
