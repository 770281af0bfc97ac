// A barrier that counts 64 threads, and all 128 come.
// fail: E-BARRIER-ROUNDS
// launch: all<<<1, 128>>>(y: i32[128] zero, threads: i32 = 64)
extern "C" __global__ void all(int* y, int threads) {
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    y[threadIdx.x] = 1;
}
