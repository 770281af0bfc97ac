// The mask was filled.
// pass
// near: init/branch
// launch: mask<<<1, 64>>>(x: f32[64], keep: u8[64], out: f32[64] zero)
extern "C" __global__ void mask(const float* x, const unsigned char* keep, float* out) {
    int i = threadIdx.x;
    if (keep[i]) out[i] = x[i];
}
