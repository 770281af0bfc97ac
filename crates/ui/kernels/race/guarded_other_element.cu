// The plain read is of one element, the atomic it decides about is on the next.
// fail: E-RACE-BLOCKS, E-RACE-GLOBAL
// launch: maximum<<<4, 32>>>(x: i32[128], best: i32[2] zero)
extern "C" __global__ void maximum(const int* x, int* best) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    atomicMax(best, v);
    if (v > best[0]) atomicMax(best + 1, v);
}
