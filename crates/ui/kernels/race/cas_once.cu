// A compare-and-swap that is tried once: where another was faster, the addition is lost.
// fail: E-RACE-BLOCKS
// launch: add<<<4, 1>>>(count: i32[1] zero)
extern "C" __global__ void add(int* count) {
    int old = *count;
    atomicCAS(count, old, old + 1);
}
