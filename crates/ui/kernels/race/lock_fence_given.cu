// The fence before giving the lock back is there, the one behind taking it is not.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(lock: i32[1] zero, total: f32[1] zero)
extern "C" __global__ void add(int* lock, float* total) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *total += 1.5f;
    __threadfence();
    atomicExch(lock, 0);
}
