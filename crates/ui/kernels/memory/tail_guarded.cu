// The same grid with the right guard.
// pass
// near: memory/tail_write
// launch: add<<<4, 32>>>(a: f32[100], b: f32[100], out: f32[100] uninit, n: i32 = 100)
extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
