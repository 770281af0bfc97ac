// The fence behind taking the lock is there, the one before giving it back is not.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(lock: i32[1] zero, total: f32[1] zero)
extern "C" __global__ void add(int* lock, float* total) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += 1.5f;
    atomicExch(lock, 0);
}
