// The first read of a compare-and-swap loop is a plain one: the programming guide's own `atomicAdd` of doubles.
// fail: W-RACE-IDIOM
// launch: sum<<<4, 32>>>(x: f64[128], total: f64[1] zero)
__device__ double add(double* address, double value) {
    unsigned long long* bits = (unsigned long long*)address;
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
extern "C" __global__ void sum(const double* x, double* total) {
    add(total, x[blockIdx.x * 32 + threadIdx.x]);
}
