// A counter with a limit: who finds it reached by a plain read stores what that has read.
// fail: E-RACE-BLOCKS
// launch: take<<<8, 1>>>(count: i32[1] zero, place: i32[8] uninit)
extern "C" __global__ void take(int* count, int* place) {
    int old = *count, assumed;
    do {
        assumed = old;
        if (assumed >= 4) break;
        old = atomicCAS(count, assumed, assumed + 1);
    } while (assumed != old);
    place[blockIdx.x] = old;
}
