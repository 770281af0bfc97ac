// Two blocks share a counter with atomics that only count for one block.
// fail: E-RACE-SCOPE
// launch: count<<<2, 32>>>(x: i32[64], total: i32[1] zero)
extern "C" __global__ void count(const int* x, int* total) {
    if (x[blockIdx.x * 32 + threadIdx.x] % 3 == 0) atomicAdd_block(total, 1);
}
