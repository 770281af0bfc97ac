// The bins are flushed while others still count.
// fail: E-RACE-SHARED
// launch: histogram<<<1, 64>>>(x: i32[64], bins: u32[16] uninit)
extern "C" __global__ void histogram(const int* x, unsigned* bins) {
    __shared__ unsigned mine[16];
    int t = threadIdx.x;
    if (t < 16) mine[t] = 0;
    __syncthreads();
    atomicAdd(&mine[x[t] % 16], 1u);
    if (t < 16) bins[t] = mine[t];
}
