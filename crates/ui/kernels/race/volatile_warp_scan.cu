// A scan of a warp's values that trusts in lockstep: each step reads what the neighbour is about to overwrite.
// fail: W-WARP-SYNCHRONOUS
// launch: scan<<<1, 64>>>(x: i32[64] all 1, y: i32[64] uninit)
extern "C" __global__ void scan(const int* x, int* y) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, lane = t % 32;
    s[t] = x[t];
    for (int d = 1; d < 32; d *= 2) {
        if (lane >= d) s[t] += s[t - d];
    }
    y[t] = s[t];
}
