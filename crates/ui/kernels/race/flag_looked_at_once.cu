// The reader does not wait: it reads the data only where the flag says that they are there.
// pass
// near: race/flag_not_looked_at
// launch: hand_over<<<2, 1>>>(data: f32[1] zero, flag: i32[1] zero, y: f32[1] zero, seen: i32[1] zero)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y, int* seen) {
    if (blockIdx.x == 0) {
        data[0] = 2.0f;
        __threadfence();
        *flag = 1;
    } else if ((*seen = *flag) != 0) {
        __threadfence();
        y[0] = data[0];
    }
}
