// Half of the block meets at barrier 0, which is `__syncthreads()`.
// fail: E-BARRIER-ROUNDS
// launch: half<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void half(int* y) {
    if (threadIdx.x < 64) {
        y[threadIdx.x] = 1;
        asm volatile("bar.sync 0, 64;" ::: "memory");
    }
    __syncthreads();
    y[threadIdx.x] += 1;
}
