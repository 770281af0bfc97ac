// Dynamic shared memory is cut into parts, and the second begins inside of the first.
// fail: E-RACE-SHARED
// launch: k<<<2, 64, 1024>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void k(const float* x, float* y) {
    extern __shared__ unsigned char raw[];
    double* a = (double*)raw;
    float* b = (float*)(raw + 64 * sizeof(float));
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    a[t] = x[i]; b[t] = 2 * x[i];
    __syncthreads();
    y[i] = a[63 - t] + b[t ^ 1];
}
