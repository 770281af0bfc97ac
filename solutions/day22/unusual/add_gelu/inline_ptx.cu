// Loads and stores in inline PTX, with hints for the caches.
__device__ float gelu(float t) {
    return 0.5f * t * (1.0f + tanhf(0.7978845608f * (t + 0.044715f * t * t * t)));
}

__device__ float4 load(const float4* p) {
    float4 v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
    return v;
}

__device__ void store(float4* p, float4 v) {
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

extern "C" __global__ void add_gelu(const float* a, const float* b, float* out, size_t n) {
    unsigned int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    const size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32, first = 4 * (32 * warp + lane);
    if (first + 4 <= n) {
        const float4 s = load((const float4*)(a + first)), t = load((const float4*)(b + first));
        store((float4*)(out + first), make_float4(gelu(s.x + t.x), gelu(s.y + t.y), gelu(s.z + t.z), gelu(s.w + t.w)));
        return;
    }
    for (size_t i = first; i < n; i++) out[i] = gelu(a[i] + b[i]);
}
