// A hardware reduction over a mask whose upper half is elsewhere.
// fail: E-SYNC-MASK
// launch: sums<<<1, 32>>>(x: i32[32], y: i32[32] zero)
extern "C" __global__ void sums(const int* x, int* y) {
    int t = threadIdx.x;
    if (t < 16) y[t] = __reduce_add_sync(0xffffffff, x[t]);
    else y[t] = __reduce_add_sync(0xffff0000, x[t]);
}
