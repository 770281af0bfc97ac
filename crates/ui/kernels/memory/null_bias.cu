// The bias is optional, and this launch passes none.
// fail: E-NULL
// launch: add_bias<<<1, 64>>>(x: f32[64], bias: null, y: f32[64] uninit)
extern "C" __global__ void add_bias(const float* x, const float* bias, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] + bias[i];
}
