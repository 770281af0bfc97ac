// A thread waits with a plain read until an atomic of another block has set a bit.
// fail: E-RACE-BLOCKS
// launch: meet<<<2, 1>>>(bits: u32[1] zero, y: i32[1] zero)
extern "C" __global__ void meet(unsigned* bits, int* y) {
    if (blockIdx.x == 0) {
        atomicOr(bits, 1u);
    } else {
        while ((*bits & 1u) == 0) atomicOr(bits, 2u);
        *y = 1;
    }
}
