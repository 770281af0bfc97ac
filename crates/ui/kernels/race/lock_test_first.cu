// A lock that is looked at with a plain read before it is taken; while it is looked at, another gives it back.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(lock: i32[1] zero, total: i32[1] zero)
extern "C" __global__ void add(int* lock, int* total) {
    for (bool done = false; !done;) {
        if (*lock == 0 && atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *total += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
