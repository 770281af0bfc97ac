// Whether the guard let it pass is stored: by an old value it may have.
// fail: E-RACE-BLOCKS
// launch: maximum<<<4, 1>>>(x: i32[4], best: i32[1] zero, won: i32[4] uninit)
extern "C" __global__ void maximum(const int* x, int* best, int* won) {
    int v = x[blockIdx.x], mine = 0;
    if (v > *best) {
        atomicMax(best, v);
        mine = 1;
    }
    won[blockIdx.x] = mine;
}
