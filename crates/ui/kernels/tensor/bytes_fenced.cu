// Plain bytes are copied out by the bulk, each thread with a proxy fence behind its write.
// pass
// near: tensor/bytes_unfenced
// launch: k<<<1, 128>>>(x: f32[128])
extern "C" __global__ void k(float* x) {
    __shared__ alignas(128) float s[128];
    unsigned to = (unsigned)__cvta_generic_to_shared(s);
    int t = threadIdx.x;
    s[t] = t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;"
                     :: "l"(__cvta_generic_to_global(x)), "r"(to) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
