// Lanes wait for another one, and look whether a third has found something: flags, which need no lockstep.
// pass
// near: race/volatile_warp
// launch: turns<<<1, 32>>>(x: i32[128], out: i32[32] uninit)
extern "C" __global__ void turns(const int* x, int* out) {
    __shared__ int turn, found;
    volatile int* now = &turn;
    volatile int* stop = &found;
    int t = threadIdx.x, seen = 0;
    if (t == 0) turn = found = 0;
    __syncwarp();
    for (int i = 0; i < 4 && !*stop; i++, seen++) {
        if (x[32 * i + t] == -12345) *stop = 1;
    }
    if (t == 3) *now = 1;
    if (t == 5) while (*now == 0) {}
    out[t] = seen;
}
