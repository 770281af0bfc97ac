// A million threads make the same mistake: one report.
// fail: E-UNINIT-GLOBAL
// launch: add_to<<<1024, 1024>>>(x: f32[1048576], out: f32[1048576] uninit)
extern "C" __global__ void add_to(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += x[i];
}
