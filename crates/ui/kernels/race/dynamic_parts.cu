// Each part begins where the one before ends.
// pass
// near: race/dynamic_parts_overlap
// launch: k<<<2, 64, 1024>>>(x: f32[128], y: f32[128] uninit)
extern "C" __global__ void k(const float* x, float* y) {
    extern __shared__ unsigned char raw[];
    double* a = (double*)raw;
    float* b = (float*)(a + 64);
    int* c = (int*)(b + 64);
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    a[t] = x[i]; b[t] = 2 * x[i]; c[t] = t;
    __syncthreads();
    y[i] = a[63 - t] + b[c[t ^ 1]];
}
