// A histogram without a bin for its largest value.
// fail: E-OOB-GLOBAL
// launch: count<<<1, 64>>>(x: i32[64], bins: u32[63] zero)
extern "C" __global__ void count(const int* x, unsigned* bins) {
    atomicAdd(&bins[x[threadIdx.x]], 1u);
}
