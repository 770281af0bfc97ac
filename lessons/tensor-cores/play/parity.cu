// A mistake made on purpose: both sides wait for the same parity, and the copies do not begin before a stage was given back.
// A fresh barrier is in phase 0. The producer's first wait must be for parity 1, the phase before that.
//
// play: x = f32[1024] ramp
// play: y = f32[128], print 4
// play: add<<<1, 160>>>(x, y)
#include "mbarrier.cuh"

__device__ void copy(void* to, const void* from, unsigned bytes, Mbarrier& done) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes), "r"(done.at())
                 : "memory");
}

__global__ void add(const float* x, float* y) {
    __shared__ __align__(128) float stages[2][128];
    __shared__ Mbarrier full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            full[i].init(1);
            empty[i].init(4);
        }
    }
    __syncthreads();
    if (threadIdx.x == 128) {
        for (int step = 0; step < 8; step++) {
            empty[step % 2].wait(step / 2 % 2);
            full[step % 2].arrive_and_expect(sizeof(stages[0]));
            copy(stages[step % 2], x + 128 * step, sizeof(stages[0]), full[step % 2]);
        }
    }
    if (threadIdx.x >= 128) return;
    float sum = 0.0f;
    for (int step = 0; step < 8; step++) {
        full[step % 2].wait(step / 2 % 2);
        sum += stages[step % 2][threadIdx.x];
        __syncwarp();
        if (threadIdx.x % 32 == 0) empty[step % 2].arrive();
    }
    y[threadIdx.x] = sum;
}
