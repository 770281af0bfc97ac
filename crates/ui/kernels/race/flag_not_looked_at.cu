// The reader reads the flag and passes a fence, and reads the data whatever the flag says.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 1>>>(data: f32[1] zero, flag: i32[1] zero, y: f32[1] zero, seen: i32[1] zero)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y, int* seen) {
    if (blockIdx.x == 0) {
        data[0] = 2.0f;
        __threadfence();
        *flag = 1;
    } else {
        *seen = *flag;
        __threadfence();
        y[0] = data[0];
    }
}
