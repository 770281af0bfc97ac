// A guarded minimum in shared memory, then one a block in global memory.
// fail: W-RACE-IDIOM
// launch: minimum<<<4, 64>>>(x: u32[256], least: u32[1] all 1000000)
extern "C" __global__ void minimum(const unsigned* x, unsigned* least) {
    __shared__ unsigned mine[2];
    if (threadIdx.x < 2) mine[threadIdx.x] = 0xffffffff;
    __syncthreads();
    unsigned v = x[blockIdx.x * 64 + threadIdx.x];
    if (v < mine[1]) atomicMin(&mine[1], v);
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(least, mine[1]);
}
