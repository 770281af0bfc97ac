// Bins in shared memory are counted up without an atomic.
// fail: E-RACE-SHARED
// launch: histogram<<<1, 64>>>(x: i32[64], bins: u32[16] uninit)
extern "C" __global__ void histogram(const int* x, unsigned* bins) {
    __shared__ unsigned mine[16];
    int t = threadIdx.x;
    if (t < 16) mine[t] = 0;
    __syncthreads();
    mine[x[t] % 16] += 1;
    __syncthreads();
    if (t < 16) bins[t] = mine[t];
}
