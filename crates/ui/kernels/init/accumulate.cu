// The output is added to, and nobody has set it.
// fail: E-UNINIT-GLOBAL
// launch: add_to<<<2, 32>>>(x: f32[64], out: f32[64] uninit)
extern "C" __global__ void add_to(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += x[i];
}
