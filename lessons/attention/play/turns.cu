// A mistake made on purpose: two warp groups take turns, and each waits for the other one to begin.
// Before the loop, the second group must give the first turn: `if (group == 1) give_turn(0);`.
//
// play: y = f32[256], print 4
// play: count<<<1, 256>>>(y)
__device__ void wait_for_turn(int group) {
    asm volatile("bar.sync %0, 256;" :: "r"(8 + group) : "memory");
}
__device__ void give_turn(int group) {
    asm volatile("bar.arrive %0, 256;" :: "r"(8 + group) : "memory");
}

__global__ void count(float* y) {
    const int group = threadIdx.x / 128;
    float sum = 0.0f;
    for (int step = 0; step < 4; step++) {
        wait_for_turn(group);
        sum += step;
        if (step < 3 || group == 0) give_turn(1 - group);
    }
    y[threadIdx.x] = sum;
}
