// A barrier that counts all 128 threads of the block, half of which have returned: unlike `__syncthreads()` it waits for them.
// fail: E-DEADLOCK
// launch: half<<<1, 128>>>(y: i32[128] zero, n: i32 = 64)
extern "C" __global__ void half(int* y, int n) {
    if (threadIdx.x >= n) return;
    asm volatile("bar.sync 1, 128;" ::: "memory");
    y[threadIdx.x] = 1;
}
