// A box that begins at the third element of a row: copies begin at multiples of 16 bytes.
// fail: E-TENSOR-MAP
// launch: k<<<1, 64>>>(m: tensor x f32 32x16 box 16x8, x: f32[512], y: f32[64] uninit)
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void k(const __grid_constant__ Map m, const float* x, float* y) {
    __shared__ alignas(128) float s[128];
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(s);
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(to), "l"(&m), "r"(2), "r"(0), "r"(b) : "memory");
    }
    __syncthreads();
    for (int done = 0; !done;) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.shared::cta.b64 p, [%1], %2;"
                     " selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(b), "r"(0) : "memory");
    }
    y[t] = s[127 - t];
}
