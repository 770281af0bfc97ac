// A mask that was never filled decides which elements are kept.
// fail: E-UNINIT-GLOBAL
// launch: mask<<<1, 64>>>(x: f32[64], keep: u8[64] uninit, out: f32[64] zero)
extern "C" __global__ void mask(const float* x, const unsigned char* keep, float* out) {
    int i = threadIdx.x;
    if (keep[i]) out[i] = x[i];
}
