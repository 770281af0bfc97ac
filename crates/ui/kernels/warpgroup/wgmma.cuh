// Products of 64 by 8, of bf16 with sums in f32, with tiles of pieces of 16 bytes and no swizzle.
#include <cuda_bf16.h>

struct Tiles {
    __nv_bfloat16 a[2][64][8];
    __nv_bfloat16 b[2][8][8];
};

// `leading`: bytes from the first eight columns to the next; `stride`: from eight rows to the next eight.
__device__ unsigned long long descriptor(const void* p, unsigned leading, unsigned stride = 128) {
    unsigned at = (unsigned)__cvta_generic_to_shared(p);
    return at >> 4 | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32;
}
__device__ void fill(Tiles& t, float x) {
    __nv_bfloat16* all = &t.a[0][0][0];
    for (int i = threadIdx.x; i < (int)(sizeof(Tiles) / 2); i += blockDim.x) all[i] = __float2bfloat16(x);
}
__device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }
__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
__device__ void multiply(float (&d)[4], const Tiles& t) {
    multiply(d, descriptor(t.a, 1024), descriptor(t.b, 128));
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void store(float* y, const float (&d)[4]) {
    for (int i = 0; i < 4; i++) y[128 * i + threadIdx.x % 128] = d[i];
}
