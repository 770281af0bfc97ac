// The last block resets the counter. Thread 0 takes the ticket, and the block reads it from shared memory.
// pass
// near: race/ticket_through_shared_first
// launch: sum<<<4, 64>>>(parts: f32[4] zero, count: u32[1] zero, out: f32[1] zero)
extern "C" __global__ void sum(float* parts, unsigned* count, float* out) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = 2.0f * blockIdx.x;
        __threadfence();
        ticket = atomicAdd(count, 1);
        __threadfence();
    }
    __syncthreads();
    if (ticket == gridDim.x - 1) {
        if (threadIdx.x == 33) {
            float total = 0.0f;
            for (int b = 0; b < gridDim.x; b++) total += parts[b];
            *out = total;
        }
        if (threadIdx.x == 0) *count = 0;
    }
}
