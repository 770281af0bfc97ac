// The guard is right, but what it guards is a plain store.
// fail: E-RACE-BLOCKS
// launch: maximum<<<4, 1>>>(x: i32[4], best: i32[1] zero)
extern "C" __global__ void maximum(const int* x, int* best) {
    int v = x[blockIdx.x];
    if (v > *best) *best = v;
}
