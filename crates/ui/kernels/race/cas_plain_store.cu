// The loop is right, but a block resets the count with a plain store meanwhile.
// fail: E-RACE-BLOCKS, W-RACE-IDIOM
// launch: add<<<4, 1>>>(count: i32[1] zero)
extern "C" __global__ void add(int* count) {
    if (blockIdx.x == 0) {
        *count = 0;
    } else {
        int old = *count, assumed;
        do {
            assumed = old;
            old = atomicCAS(count, assumed, 2 * assumed + 1);
        } while (assumed != old);
    }
}
