// One thread's fence, behind a barrier, is for all that the block has written before it (PTX ISA 8.9.5): the flag may be set after
// another barrier.
// pass
// near: race/fence_before_barrier
// launch: hand_over<<<2, 64>>>(data: f32[64] zero, flag: i32[1] zero, y: f32[64] uninit)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 2.0f * t;
        __syncthreads();
        if (t == 0) __threadfence();
        __syncthreads();
        if (t == 0) *flag = 1;
    } else {
        if (t == 0) while (*flag == 0) {}
        __threadfence();
        __syncthreads();
        y[t] = data[t];
    }
}
