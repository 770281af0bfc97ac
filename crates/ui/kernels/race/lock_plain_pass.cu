// Who finds the lock free by a plain read goes on without taking it.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(lock: i32[1] zero, total: i32[1] zero)
extern "C" __global__ void add(int* lock, int* total) {
    if (*lock != 0) while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    atomicAdd(total, 1);
    __threadfence();
    atomicExch(lock, 0);
}
