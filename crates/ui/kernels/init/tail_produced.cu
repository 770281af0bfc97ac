// The first launch has a block for the tail too.
// pass
// near: init/tail_not_produced
// launch: square<<<4, 32>>>(x: f32[100], mid: f32[100] uninit, n: i32 = 100)
// launch: relu<<<4, 32>>>(mid, out: f32[100] uninit, n: i32 = 100)
extern "C" __global__ void square(const float* x, float* mid, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) mid[i] = x[i] * x[i];
}
extern "C" __global__ void relu(const float* mid, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mid[i] > 0.0f ? 1.0f : 2.0f;
}
