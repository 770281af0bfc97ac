// A barrier of the grid that is used again: who comes last turns a flag.
// pass
// near: race/grid_barrier_early
// launch: k<<<3, 32>>>(y: i32[96] zero, count: u32[1] zero, sense: u32[1] zero) cooperative
extern "C" __global__ void k(int* y, unsigned* count, volatile unsigned* sense) {
    int i = blockIdx.x * 32 + threadIdx.x;
    for (int round = 0; round < 4; round++) {
        int v = y[(i + 32) % 96];
        for (int half = 0; half < 2; half++) {
            __syncthreads();
            if (threadIdx.x == 0) {
                unsigned old = *sense;
                __threadfence();
                if (atomicAdd(count, 1) == gridDim.x - 1) {
                    *count = 0;
                    __threadfence();
                    *sense = old + 1;
                } else {
                    while (*sense == old) {}
                }
                __threadfence();
            }
            __syncthreads();
            if (half == 0) y[i] = v + 1;
        }
    }
}
