// A maximum by compare-and-swap that reads again in each round, and stops where there is more already.
// fail: W-RACE-IDIOM
// launch: maximum<<<4, 32>>>(x: f32[128], best: i32[1] zero)
extern "C" __global__ void maximum(const float* x, int* best) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    int old;
    do {
        old = *best;
        if (__int_as_float(old) >= v) break;
    } while (atomicCAS(best, old, __float_as_int(v)) != old);
}
