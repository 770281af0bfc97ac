// Each half names itself.
// pass
// near: sync/reduce_sync_part
// launch: sums<<<1, 32>>>(x: i32[32], y: i32[32] zero)
extern "C" __global__ void sums(const int* x, int* y) {
    int t = threadIdx.x;
    if (t < 16) y[t] = __reduce_add_sync(0x0000ffff, x[t]);
    else y[t] = __reduce_add_sync(0xffff0000, x[t]);
}
