// 14 and 15 are numbers of barriers.
// pass
// near: sync/barrier_number
// launch: named<<<1, 64>>>(y: i32[64] zero, first: i32 = 14)
extern "C" __global__ void named(int* y, int first) {
    int id = first + threadIdx.x / 32;
    asm volatile("bar.sync %0, 32;" ::"r"(id) : "memory");
    y[threadIdx.x] = id;
}
