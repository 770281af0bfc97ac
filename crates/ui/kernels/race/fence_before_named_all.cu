// The same with a fence of every thread behind what it writes.
// pass
// near: race/fence_before_named
// launch: hand_over<<<2, 96>>>(data: f32[64] zero, flag: i32[1] zero, y: f32[64] uninit)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t < 64) {
            data[t] = 2.0f * t;
            __threadfence();
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if (t == 0) *flag = 1;
        }
    } else {
        if (t == 0) while (*flag == 0) {}
        __threadfence();
        __syncthreads();
        if (t < 64) y[t] = data[t];
    }
}
