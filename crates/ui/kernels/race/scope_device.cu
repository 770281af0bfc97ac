// atomicAdd counts for the whole device.
// pass
// near: race/scope_block
// launch: count<<<2, 32>>>(x: i32[64], total: i32[1] zero)
extern "C" __global__ void count(const int* x, int* total) {
    if (x[blockIdx.x * 32 + threadIdx.x] % 3 == 0) atomicAdd(total, 1);
}
