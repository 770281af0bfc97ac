// A block waits for a flag of another; the producer has its fence, the consumer reads without one behind the flag.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 32>>>(data: f32[32] zero, flag: i32[1] zero, y: f32[32] uninit)
extern "C" __global__ void hand_over(float* data, int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 2.0f * t;
        __threadfence();
        __syncthreads();
        if (t == 0) atomicExch(flag, 1);
    } else {
        if (t == 0) while (atomicAdd(flag, 0) == 0) {}
        __syncthreads();
        y[t] = data[t];
    }
}
