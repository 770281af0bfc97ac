// Every thread of the warp passes the fence behind what it writes; then they meet, and thread 0 sets the flag.
// pass
// near: race/fence_before_warp
// launch: hand_over<<<2, 32>>>(data: f32[32] zero, flag: i32[1] zero, y: f32[32] uninit)
extern "C" __global__ void hand_over(float* data, volatile int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 2.0f * t;
        __threadfence();
        __syncwarp();
        if (t == 0) *flag = 1;
    } else {
        if (t == 0) while (*flag == 0) {}
        __syncwarp();
        __threadfence();
        __syncwarp();
        y[t] = data[t];
    }
}
