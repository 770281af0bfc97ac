// The first block resets the counter instead of the last one: others may still count.
// fail: E-RACE-BLOCKS
// launch: sum<<<4, 64>>>(parts: f32[4] zero, count: u32[1] zero)
extern "C" __global__ void sum(float* parts, unsigned* count) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = 2.0f * blockIdx.x;
        __threadfence();
        ticket = atomicAdd(count, 1);
    }
    __syncthreads();
    if (ticket == 0 && threadIdx.x == 0) *count = 0;
}
