// The remainder of a division by zero, in 64 bits.
// fail: L-DIVIDE-BY-ZERO
// checks: arithmetic
// launch: wrap<<<1, 32>>>(y: i64[32] uninit, period: i64 = 0)
extern "C" __global__ void wrap(long long* y, long long period) {
    y[threadIdx.x] = (long long)threadIdx.x % period;
}
