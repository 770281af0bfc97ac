// A compare-and-swap loop that reads again in each round.
// fail: W-RACE-IDIOM
// launch: saturate<<<4, 32>>>(count: u32[1] zero)
extern "C" __global__ void saturate(unsigned* count) {
    unsigned old;
    do {
        old = *count;
    } while (atomicCAS(count, old, old < 1000 ? old + 3 : old) != old);
}
