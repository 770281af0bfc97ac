// Beside the guarded maximum its place is stored: two that are larger may store it in the other order.
// fail: E-RACE-BLOCKS
// launch: maximum<<<4, 1>>>(x: i32[4], best: i32[1] zero, where: i32[1] zero)
extern "C" __global__ void maximum(const int* x, int* best, int* where) {
    int v = x[blockIdx.x] + 1;
    if (v > *best) {
        atomicMax(best, v);
        *where = blockIdx.x;
    }
}
