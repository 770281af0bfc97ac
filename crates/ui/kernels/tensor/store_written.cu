// The thread waits until its copy has also written, which is more than the end of the block asks for.
// pass
// near: tensor/store_uncommitted
// launch: k<<<1, 128>>>(m: tensor x f32 32x16 box 16x8, x: f32[512])
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void k(const __grid_constant__ Map m, float* x) {
    __shared__ alignas(128) float s[128];
    unsigned to = (unsigned)__cvta_generic_to_shared(s);
    int t = threadIdx.x;
    s[t] = t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     :: "l"(&m), "r"(0), "r"(0), "r"(to) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
