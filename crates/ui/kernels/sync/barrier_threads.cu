// A named barrier for 48 threads: barriers count whole warps.
// fail: E-BARRIER-COUNT
// launch: named<<<1, 64>>>(y: i32[64] zero, threads: i32 = 48)
extern "C" __global__ void named(int* y, int threads) {
    if (threadIdx.x < threads) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    y[threadIdx.x] = 1;
}
