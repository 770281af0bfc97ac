// The register is set first.
// pass
// near: init/register_inline
// launch: dot<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
extern "C" __global__ void dot(const float* x, float* y) {
    float v = x[threadIdx.x], out;
    asm volatile("{\n .reg .f32 acc;\n mov.f32 acc, 0f00000000;\n fma.rn.f32 acc, %1, %1, acc;\n mov.f32 %0, acc;\n}"
                 : "=f"(out) : "f"(v));
    y[threadIdx.x] = out;
}
