// A compare-and-swap loop that gives the value it has replaced, and that is stored: the exchange has confirmed it.
// fail: W-RACE-IDIOM
// launch: places<<<4, 1>>>(count: i32[1] zero, place: i32[4] uninit)
extern "C" __global__ void places(int* count, int* place) {
    int old = *count, assumed;
    do {
        assumed = old;
        old = atomicCAS(count, assumed, 2 * assumed + 1);
    } while (assumed != old);
    place[blockIdx.x] = old;
}
