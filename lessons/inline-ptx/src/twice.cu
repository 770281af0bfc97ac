// A register that is declared without braces. Whether the smaller of two numbers is chosen is
// decided twice, and both times the predicate is called `less`.

// ANCHOR: twice
__device__ unsigned smaller(unsigned a, unsigned b) {
    unsigned chosen;
    asm(".reg .pred less; setp.lt.u32 less, %1, %2; selp.u32 %0, %1, %2, less;"
        : "=r"(chosen)
        : "r"(a), "r"(b));
    return chosen;
}

extern "C" __global__ void twice(unsigned* out) {
    out[threadIdx.x] = smaller(smaller(threadIdx.x, 7), 3);
}
// ANCHOR_END: twice
