// A maximum of floats by compare-and-swap in shared memory; whoever is below what was read goes without.
// fail: W-RACE-IDIOM
// launch: maximum<<<1, 64>>>(x: f32[64], out: f32[1] uninit)
extern "C" __global__ void maximum(const float* x, float* out) {
    __shared__ int best;
    if (threadIdx.x == 0) best = __float_as_int(-1e30f);
    __syncthreads();
    float value = x[threadIdx.x];
    int old = best;
    while (value > __int_as_float(old)) {
        int assumed = old;
        old = atomicCAS(&best, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = __int_as_float(best);
}
