// The flag itself is plain memory, written by one block and read by another.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 32>>>(flag: i32[1] zero, y: i32[1] zero)
extern "C" __global__ void hand_over(int* flag, int* y) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *flag = 1;
    if (blockIdx.x == 1 && threadIdx.x == 0) *y = *flag;
}
