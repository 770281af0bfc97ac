// A mistake made on purpose: nothing shows the copy what the threads have written. A barrier orders threads, and a bulk copy
// reads shared memory in another way. `show_to_copies();` belongs before the barrier, in each thread that has written.
//
// play: x = f32[128] ramp
// play: y = f32[128], print 4
// play: twice<<<1, 128>>>(x, y)
#include "tma.cuh"

__global__ void twice(const float* x, float* y) {
    __shared__ __align__(128) float out[128];
    out[threadIdx.x] = 2.0f * x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;"
                     :: "l"(y), "r"((unsigned)__cvta_generic_to_shared(out)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        wait_for_stores<0>();
    }
}
