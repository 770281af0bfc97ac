// For 64 threads.
// pass
// near: sync/barrier_threads
// launch: named<<<1, 96>>>(y: i32[96] zero, threads: i32 = 64)
extern "C" __global__ void named(int* y, int threads) {
    if (threadIdx.x < threads) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    y[threadIdx.x] = 1;
}
