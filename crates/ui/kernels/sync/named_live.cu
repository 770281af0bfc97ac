// It counts those that are left.
// pass
// near: sync/named_too_many
// launch: half<<<1, 128>>>(y: i32[128] zero, n: i32 = 64)
extern "C" __global__ void half(int* y, int n) {
    if (threadIdx.x >= n) return;
    asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");
    y[threadIdx.x] = 1;
}
