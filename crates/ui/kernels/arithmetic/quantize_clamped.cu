// Clamped before it is converted.
// pass
// near: arithmetic/quantize
// checks: arithmetic
// launch: quantize<<<1, 32>>>(x: f32[32], q: i32[32] uninit, scale: f32 = 1e9)
extern "C" __global__ void quantize(const float* x, int* q, float scale) {
    q[threadIdx.x] = (int)fminf(fmaxf(x[threadIdx.x] * scale, -127.0f), 127.0f);
}
