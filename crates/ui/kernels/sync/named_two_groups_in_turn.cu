// Both halves use one barrier, the second after the first: a barrier of the whole block stands between.
// pass
// near: sync/named_two_groups
// launch: halves<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void halves(int* y) {
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    y[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x >= 64) asm volatile("bar.sync 1, 64;" ::: "memory");
}
