// The fences are of the kind that is in no common order: what thread 0 has seen of the flag, only its own fence makes known.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 64>>>(data: f32[64] zero, flag: i32[1] zero, y: f32[64] uninit)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 2.0f * t;
        __syncthreads();
        if (t == 0) {
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            *flag = 1;
        }
    } else {
        if (t == 0) while (*flag == 0) {}
        __syncthreads();
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        y[t] = data[t];
    }
}
