// The same for floats, by the atomics of integers: the maximum of those with a sign is a minimum.
// fail: W-RACE-IDIOM
// launch: maximum<<<4, 32>>>(x: f32[128], best: f32[1] zero)
extern "C" __global__ void maximum(const float* x, float* best) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    if (v > *best) {
        if (v >= 0.0f) atomicMax((int*)best, __float_as_int(v));
        else atomicMin((unsigned*)best, __float_as_uint(v));
    }
}
