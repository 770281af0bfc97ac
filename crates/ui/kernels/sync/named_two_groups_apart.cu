// A barrier for each half.
// pass
// near: sync/named_two_groups
// launch: halves<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void halves(int* y) {
    if (threadIdx.x < 64) {
        y[threadIdx.x] = 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        y[threadIdx.x] = 2;
        asm volatile("bar.sync 2, 64;" ::: "memory");
    }
}
