// The last block adds up the partial sums of all; the fence behind the counter is missing, as in NVIDIA's own sample.
// fail: W-RACE-IDIOM
// launch: sum<<<4, 32>>>(x: f32[128], parts: f32[4] uninit, count: u32[1] zero, out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* parts, unsigned* count, float* out) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        if (atomicAdd(count, 1u) == gridDim.x - 1) {
            float total = 0.0f;
            for (int b = 0; b < gridDim.x; b++) total += parts[b];
            *out = total;
        }
    }
}
