// A hardware reduction over a mask whose upper half has gone around it to the store behind.
// fail: E-SYNC-MASK
// launch: sums<<<1, 32>>>(x: i32[32], y: i32[32] zero)
extern "C" __global__ void sums(const int* x, int* y) {
    int t = threadIdx.x, sum = x[t];
    if (t < 16) sum = __reduce_add_sync(0xffffffff, sum);
    y[t] = sum;
}
