// A bin's number from a negative value.
// fail: L-FLOAT-TO-INT
// checks: arithmetic
// launch: bin<<<1, 32>>>(x: f32[32], y: u32[32] uninit)
extern "C" __global__ void bin(const float* x, unsigned* y) {
    y[threadIdx.x] = (unsigned)((x[threadIdx.x] - 4.0f) * 2.0f);
}
