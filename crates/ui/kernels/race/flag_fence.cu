// The producer's fence before the flag, the consumer's after it.
// pass
// near: race/flag_no_fence
// launch: hand_over<<<2, 32>>>(data: f32[32] zero, flag: i32[1] zero, y: f32[32] uninit)
extern "C" __global__ void hand_over(float* data, int* flag, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = 2.0f * t;
        __syncthreads();
        __threadfence();
        if (t == 0) atomicExch(flag, 1);
    } else {
        if (t == 0) while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        __syncthreads();
        y[t] = data[t];
    }
}
