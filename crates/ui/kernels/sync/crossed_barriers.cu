// One warp waits at barrier 1 and then 2, the other at 2 and then 1.
// fail: E-DEADLOCK
// launch: cross<<<1, 64>>>(y: i32[64] zero)
extern "C" __global__ void cross(int* y) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    y[threadIdx.x] = 1;
}
