// A block waits for a flag that nobody sets.
// fail: E-BUDGET
// launch: wait<<<1, 1>>>(flag: i32[1] zero, y: i32[1] zero)
extern "C" __global__ void wait(volatile int* flag, int* y) {
    while (*flag == 0) {}
    *y = 1;
}
