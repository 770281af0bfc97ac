// It counts 128, round by round.
// pass
// near: sync/named_too_few
// launch: all<<<1, 128>>>(y: i32[128] zero, threads: i32 = 128)
extern "C" __global__ void all(int* y, int threads) {
    for (int k = 0; k < 3; k++) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    y[threadIdx.x] = 1;
}
