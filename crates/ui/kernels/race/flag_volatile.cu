// The flag is volatile instead of atomic, as much CUDA code has it, with the same fences.
// pass
// near: race/flag_no_fence
// launch: hand_over<<<2, 1>>>(data: f32[1] zero, flag: i32[1] zero, y: f32[1] uninit)
extern "C" __global__ void hand_over(volatile float* data, volatile int* flag, float* y) {
    if (blockIdx.x == 0) {
        data[0] = 2.0f;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        y[0] = data[0];
    }
}
