// What was read is stored, and nobody asks whether the exchange took place.
// fail: E-RACE-BLOCKS
// launch: places<<<4, 1>>>(count: i32[1] zero, place: i32[4] uninit)
extern "C" __global__ void places(int* count, int* place) {
    int old = *count;
    atomicCAS(count, old, old + 1);
    place[blockIdx.x] = old;
}
