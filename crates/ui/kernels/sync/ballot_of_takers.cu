// The mask is taken by all lanes before the branch.
// pass
// near: sync/ballot_in_branch
// launch: count<<<1, 32>>>(x: i32[32], y: i32[32] zero)
extern "C" __global__ void count(const int* x, int* y) {
    int t = threadIdx.x;
    unsigned takers = __ballot_sync(0xffffffff, x[t] < 20);
    if (x[t] < 20) {
        y[t] = __popc(__ballot_sync(takers, x[t] % 2));
    }
    __syncwarp();
}
