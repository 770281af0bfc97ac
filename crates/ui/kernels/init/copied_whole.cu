// Four blocks of 32 are enough for 100 elements.
// pass
// near: init/copied_tail
// launch: twice<<<4, 32>>>(x: f32[100], y: f32[100] uninit, n: i32 = 100)
// copy: y to host
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
