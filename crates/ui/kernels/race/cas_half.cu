// An addition to one half of a word, by compare-and-swap of the whole word.
// fail: W-RACE-IDIOM
// launch: add<<<4, 32>>>(counts: u32[4] zero)
__device__ void add_upper(unsigned* word, unsigned value) {
    unsigned old = *word, assumed;
    do {
        assumed = old;
        unsigned sum = ((assumed >> 16) + value) & 0xffff;
        old = atomicCAS(word, assumed, (assumed & 0xffff) | sum << 16);
    } while (assumed != old);
}
extern "C" __global__ void add(unsigned* counts) {
    add_upper(&counts[threadIdx.x % 4], 1);
}
