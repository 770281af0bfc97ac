// A cuda::pipeline of a block: its stages are released after they have been read.
// pass
// near: race/async_pipeline_block_early
// launch: k<<<2, 64>>>(x: f32[1024], y: f32[1024] uninit)
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void k(const float* x, float* y) {
    __shared__ float s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, base = blockIdx.x * 512;
    for (int fetch = 0, i = 0; i < 8; i++) {
        for (; fetch < 8 && fetch < i + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[fetch % 2][t], &x[base + fetch * 64 + t], sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[base + i * 64 + t] = s[i % 2][63 - t];
        pipe.consumer_release();
    }
}
