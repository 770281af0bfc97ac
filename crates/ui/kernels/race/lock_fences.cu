// A lock with a fence behind taking it and one before giving it back.
// pass
// near: race/lock_no_fence
// launch: add<<<4, 1>>>(lock: i32[1] zero, total: f32[1] zero)
extern "C" __global__ void add(int* lock, float* total) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += 1.5f;
    __threadfence();
    atomicExch(lock, 0);
}
