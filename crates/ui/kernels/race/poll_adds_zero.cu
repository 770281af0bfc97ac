// A block waits by an atomic that adds what is zero at run time, and no fence follows: it looks, and does not count itself.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 1>>>(data: i32[1] zero, flag: i32[1] zero, y: i32[1] uninit, none: i32 = 0)
extern "C" __global__ void hand_over(int* data, int* flag, int* y, int none) {
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        atomicAdd(flag, 1);
    } else {
        while (atomicAdd(flag, none) == 0) {}
        *y = *data;
    }
}
