// A maximum of one more than what was read: two that read the same count as one.
// fail: E-RACE-BLOCKS
// launch: count<<<4, 1>>>(most: i32[1] zero)
extern "C" __global__ void count(int* most) {
    atomicMax(most, *most + 1);
}
