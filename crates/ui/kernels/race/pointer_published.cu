// The writer publishes where the data stand. The reader goes there by what it has read: nothing is there but what the writer has made ready.
// pass
// near: race/flag_not_looked_at
// launch: hand_over<<<2, 1>>>(data: f32[2] zero, at: i32[1] zero, y: f32[1] zero)
extern "C" __global__ void hand_over(float* data, volatile int* at, float* y) {
    if (blockIdx.x == 0) {
        data[1] = 2.0f;
        __threadfence();
        *at = 1;
    } else {
        int i = *at;
        __threadfence();
        y[0] = data[i];
    }
}
