// The sums begin with whatever the registers hold.
// fail: E-UNINIT-REGISTER
// launch: k<<<1, 32>>>(x: u32[128], y: f32[128] uninit)
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
extern "C" __global__ void k(const unsigned* x, float* y) {
    int t = threadIdx.x;
    unsigned a[4] = {x[t], x[t + 32], x[t + 64], x[t + 96]};
    float d[4];
    multiply(d, a, a[0], a[1]);
    for (int i = 0; i < 4; i++) y[32 * i + t] = d[i];
}
