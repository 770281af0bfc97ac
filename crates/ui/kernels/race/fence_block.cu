// A fence for the block only, between data and a flag that another block waits for.
// fail: E-RACE-BLOCKS
// launch: hand_over<<<2, 1>>>(data: f32[1] zero, flag: i32[1] zero, y: f32[1] uninit)
extern "C" __global__ void hand_over(float* data, int* flag, float* y) {
    if (blockIdx.x == 0) {
        data[0] = 2.0f;
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence_block();
        y[0] = data[0];
    }
}
