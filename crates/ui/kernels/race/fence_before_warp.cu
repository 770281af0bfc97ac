// Thread 0's fence stands before what thread 1 writes: the warp meets behind it, but nothing makes that ready.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 32>>>(data: f32[1] zero, flag: i32[1] zero, y: f32[1] uninit)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) __threadfence();
        if (t == 1) data[0] = 42.0f;
        __syncwarp();
        if (t == 0) *flag = 1;
    } else if (t == 0) {
        while (*flag == 0) {}
        __threadfence();
        y[0] = data[0];
    }
}
