// Two of three warps meet at a barrier of their own. The fence of the thread that sets the flag stands before what the other writes.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 96>>>(data: f32[1] zero, flag: i32[1] zero, y: f32[1] uninit)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) __threadfence();
        if (t == 33) data[0] = 42.0f;
        if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
        if (t == 0) *flag = 1;
    } else if (t == 0) {
        while (*flag == 0) {}
        __threadfence();
        y[0] = data[0];
    }
}
