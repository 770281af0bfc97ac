// The mistake stands in inline PTX.
// fail: E-MISALIGNED
// launch: load<<<1, 16>>>(x: f32[68], y: f32[64] uninit)
extern "C" __global__ void load(const float* x, float* y) {
    float a, b, c, d;
    const float* p = x + 4 * threadIdx.x + 1;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p));
    y[4 * threadIdx.x] = a + b + c + d;
}
