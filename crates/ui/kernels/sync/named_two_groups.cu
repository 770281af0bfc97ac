// Two halves of a block that meet at one barrier of 64 threads: any two warps complete it.
// fail: E-BARRIER-ROUNDS
// launch: halves<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void halves(int* y) {
    if (threadIdx.x < 64) {
        y[threadIdx.x] = 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        y[threadIdx.x] = 2;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}
