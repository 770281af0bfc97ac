// A vote with the full mask inside of a branch that lanes 20 to 31 do not take: they wait behind it, and none goes on.
// fail: E-DEADLOCK
// launch: count<<<1, 32>>>(x: i32[32], y: i32[32] zero)
extern "C" __global__ void count(const int* x, int* y) {
    int t = threadIdx.x;
    if (x[t] < 20) {
        y[t] = __popc(__ballot_sync(0xffffffff, x[t] % 2));
    }
    __syncwarp();
}
