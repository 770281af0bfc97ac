// All count all three.
// pass
// near: sync/named_counts
// launch: roles<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void roles(int* y) {
    if (threadIdx.x < 32) asm volatile("bar.arrive 1, 96;" ::: "memory");
    else if (threadIdx.x < 96) asm volatile("bar.sync 1, 96;" ::: "memory");
    y[threadIdx.x] = 1;
}
