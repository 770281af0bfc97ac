// Votes between a volatile write and the read: all lanes of the warp have come there.
// pass
// near: race/volatile_warp
// launch: pass<<<1, 32>>>(x: i32[32], y: i32[32] uninit)
extern "C" __global__ void pass(const int* x, int* y) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    if (__any_sync(~0u, x[t] != 0)) y[t] = s[t ^ 1];
    else y[t] = 0;
}
