// A counter for each block needs no more than the block's scope.
// pass
// near: race/scope_block
// launch: count<<<2, 32>>>(x: i32[64], totals: i32[2] zero)
extern "C" __global__ void count(const int* x, int* totals) {
    if (x[blockIdx.x * 32 + threadIdx.x] % 3 == 0) atomicAdd_block(&totals[blockIdx.x], 1);
}
