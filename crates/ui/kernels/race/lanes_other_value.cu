// Lanes of one store share elements; the last lane stores something else than those with whom it shares one.
// fail: E-RACE-GLOBAL
// launch: mark<<<1, 32>>>(y: i32[8] uninit)
extern "C" __global__ void mark(int* y) {
    y[threadIdx.x % 8] = threadIdx.x == 31 ? 3 : 2;
}
