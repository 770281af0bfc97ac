// A struct of eight scales is passed by value and read at an index past them.
// fail: E-OOB-PARAM
// launch: scale<<<1, 32>>>(scales: value f32[8], x: f32[32], y: f32[32] uninit)
struct Scales { float of[8]; };
extern "C" __global__ void scale(const __grid_constant__ Scales scales, const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] * scales.of[i];
}
