// State and sum are one word, so that there is nothing to order; a warp looks back at 32 blocks at once.
// pass
// near: race/look_back_no_fence
// launch: k<<<40, 64>>>(x: i32[2560] all 1, y: i32[2560] uninit, st: u64[40] zero, ticket: i32[1] zero)
extern "C" __global__ void k(const int* x, int* y, unsigned long long* st, int* ticket) {
    __shared__ int bid, prefix;
    __shared__ int wsum[2];
    int t = threadIdx.x, lane = t & 31;
    if (t == 0) bid = atomicAdd(ticket, 1);
    __syncthreads();
    int b = bid;
    int v = x[b * 64 + t], s = v;
    for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
    if (lane == 31) wsum[t / 32] = s;
    __syncthreads();
    if (t >= 32) s += wsum[0];
    int total = wsum[0] + wsum[1];
    if (t < 32) {
        volatile unsigned long long* vs = st;
        if (lane == 0) vs[b] = ((unsigned long long)(b == 0 ? 2 : 1) << 32) | (unsigned)total;
        int run = 0;
        for (int base = b - 1; base >= 0; base -= 32) {
            int j = base - lane;
            unsigned long long w = 0;
            if (j >= 0) do { w = vs[j]; } while ((w >> 32) == 0);
            unsigned full = __ballot_sync(~0u, j >= 0 && (w >> 32) == 2);
            int first = full ? __ffs(full) - 1 : 31;
            int part = (j >= 0 && lane <= first) ? (int)(unsigned)w : 0;
            for (int o = 16; o > 0; o >>= 1) part += __shfl_xor_sync(~0u, part, o);
            run += part;
            if (full) break;
        }
        if (lane == 0) { if (b > 0) vs[b] = (2ull << 32) | (unsigned)(run + total); prefix = run; }
    }
    __syncthreads();
    y[b * 64 + t] = s + prefix;
}
