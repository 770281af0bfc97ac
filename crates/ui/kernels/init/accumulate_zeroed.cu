// The output was set to zero before.
// pass
// near: init/accumulate
// launch: add_to<<<2, 32>>>(x: f32[64], out: f32[64] zero)
extern "C" __global__ void add_to(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += x[i];
}
