// A guarded maximum for each of eight keys.
// fail: W-RACE-IDIOM
// launch: maxima<<<2, 64>>>(x: i32[128], best: i32[8] zero)
extern "C" __global__ void maxima(const int* x, int* best) {
    int v = x[blockIdx.x * 64 + threadIdx.x];
    int* mine = best + (threadIdx.x & 7);
    if (*mine < v) atomicMax(mine, v);
}
