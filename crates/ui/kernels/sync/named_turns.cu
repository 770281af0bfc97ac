// Two groups of two warps take turns, as attention kernels do between products and softmax: each waits at a barrier of its own,
// at which the other one only announces itself.
// pass
// near: sync/named_two_groups
// launch: turns<<<1, 128>>>(y: i32[1] zero)
extern "C" __global__ void turns(int* y) {
    int group = threadIdx.x / 64;
    if (group == 1) asm volatile("bar.arrive 1, 128;" ::: "memory");
    for (int k = 0; k < 4; k++) {
        asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
        if (threadIdx.x % 64 == 0) *y += 1;
        if (k < 3 || group == 0) asm volatile("bar.arrive %0, 128;" ::"r"(2 - group) : "memory");
    }
}
