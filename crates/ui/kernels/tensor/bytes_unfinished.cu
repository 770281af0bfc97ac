// Plain bytes are added to global memory by the bulk, and the block ends while the copy may still read.
// fail: E-RACE-ASYNC
// launch: k<<<1, 128>>>(x: f32[128])
extern "C" __global__ void k(float* x) {
    __shared__ alignas(128) float s[128];
    unsigned to = (unsigned)__cvta_generic_to_shared(s);
    int t = threadIdx.x;
    s[t] = t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;"
                     :: "l"(__cvta_generic_to_global(x)), "r"(to) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}
