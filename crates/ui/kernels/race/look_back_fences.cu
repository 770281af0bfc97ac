// Both sides have their fences.
// pass
// near: race/look_back_no_fence
// launch: k<<<16, 128>>>(x: i32[2048] all 1, y: i32[2048] uninit, state: i32[16] zero, agg: i32[16] uninit, inc: i32[16] uninit, ticket: i32[1] zero)
extern "C" __global__ void k(const int* x, int* y, volatile int* state, volatile int* agg, volatile int* inc, int* ticket) {
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
        int total = s[127];
        int p = 0;
        if (b == 0) {
            inc[0] = total;
            __threadfence();
            state[0] = 2;
        } else {
            agg[b] = total;
            __threadfence();
            state[b] = 1;
            int j = b - 1;
            while (j >= 0) {
                int f;
                while ((f = state[j]) == 0) {}
                __threadfence();
                if (f == 2) { p += inc[j]; break; }
                p += agg[j];
                j--;
            }
            inc[b] = p + total;
            __threadfence();
            state[b] = 2;
        }
        prev = p;
    }
    __syncthreads();
    y[b * 128 + t] = s[t] + prev;
}
