// The maximum is guarded, and what was read is stored beside it as if it were the last one.
// fail: E-RACE-BLOCKS
// launch: maximum<<<4, 1>>>(x: i32[4], best: i32[1] zero, before: i32[4] uninit)
extern "C" __global__ void maximum(const int* x, int* best, int* before) {
    int v = x[blockIdx.x], seen = *best;
    if (v > seen) atomicMax(best, v);
    before[blockIdx.x] = seen;
}
