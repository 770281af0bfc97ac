// An addition to 16 bits by compare-and-swap; its first read is plain.
// fail: W-RACE-IDIOM
// launch: add<<<4, 32>>>(counts: u16[4] zero)
extern "C" __global__ void add(unsigned short* counts) {
    unsigned short* count = &counts[threadIdx.x % 4];
    unsigned short old = *count, assumed;
    do {
        assumed = old;
        old = atomicCAS(count, assumed, (unsigned short)(assumed + 1));
    } while (assumed != old);
}
