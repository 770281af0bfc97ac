// Both wait at 1 and then 2.
// pass
// near: sync/crossed_barriers
// launch: cross<<<1, 64>>>(y: i32[64] zero)
extern "C" __global__ void cross(int* y) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    asm volatile("bar.sync 2, 64;" ::: "memory");
    y[threadIdx.x] = 1;
}
