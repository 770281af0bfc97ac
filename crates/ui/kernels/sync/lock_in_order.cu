// A lock taken by one thread of each block, with a fence on both sides.
// pass
// near: race/total_plain
// launch: total<<<4, 32>>>(x: f32[128], lock: i32[1] zero, sum: f32[1] zero)
extern "C" __global__ void total(const float* x, int* lock, volatile float* sum) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *sum = *sum + v;
        __threadfence();
        atomicExch(lock, 0);
    }
}
