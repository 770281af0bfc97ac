// The grid is rounded up, and the guard compares with <= where it should compare with <.
// fail: E-OOB-GLOBAL
// launch: add<<<4, 32>>>(a: f32[128], b: f32[128], out: f32[100] uninit, n: i32 = 100)
extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = a[i] + b[i];
}
