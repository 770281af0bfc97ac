// A matrix is stored by rows, and other warps read it at once.
// fail: E-RACE-SHARED
// launch: k<<<1, 64>>>(x: u32[64], y: u32[64] uninit)
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k(const unsigned* x, unsigned* y) {
    __shared__ __align__(16) unsigned tile[64];
    int t = threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
                 :: "r"(at(&tile[t / 32 * 32 + t % 8 * 4])), "r"(x[t]) : "memory");
    y[t] = tile[63 - t];
}
