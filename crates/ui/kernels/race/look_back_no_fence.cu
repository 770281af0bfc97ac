// A scan that looks back: a block publishes its sum and then a flag, with no fence on either side.
// fail: E-RACE-BLOCKS
// launch: k<<<16, 128>>>(x: i32[2048] all 1, y: i32[2048] uninit, state: i32[16] zero, inc: i32[16] uninit, ticket: i32[1] zero)
extern "C" __global__ void k(const int* x, int* y, volatile int* state, int* inc, int* ticket) {
    __shared__ int bid, prev;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) bid = atomicAdd(ticket, 1);
    __syncthreads();
    int b = bid;
    s[t] = x[b * 128 + t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        int p = 0;
        if (b > 0) {
            while (state[b - 1] == 0) {}
            p = inc[b - 1];
        }
        inc[b] = p + s[127];
        state[b] = 1;
        prev = p;
    }
    __syncthreads();
    y[b * 128 + t] = s[t] + prev;
}
