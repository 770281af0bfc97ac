// At barrier 1.
// pass
// near: sync/named_block_number
// launch: half<<<1, 128>>>(y: i32[128] zero)
extern "C" __global__ void half(int* y) {
    if (threadIdx.x < 64) {
        y[threadIdx.x] = 1;
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    __syncthreads();
    y[threadIdx.x] += 1;
}
