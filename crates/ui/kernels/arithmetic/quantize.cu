// A scale that makes values too large for an int.
// fail: L-FLOAT-TO-INT
// checks: arithmetic
// launch: quantize<<<1, 32>>>(x: f32[32], q: i32[32] uninit, scale: f32 = 1e9)
extern "C" __global__ void quantize(const float* x, int* q, float scale) {
    q[threadIdx.x] = (int)(x[threadIdx.x] * scale);
}
