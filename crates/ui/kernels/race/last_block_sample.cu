// The whole of the sample: every thread has a fence, thread 0 counts, a barrier tells the block, and it sums in place.
// fail: W-RACE-IDIOM
// launch: sum<<<8, 64>>>(x: f32[512], parts: f32[8] uninit, count: u32[1] zero)
extern "C" __global__ void sum(const float* x, float* parts, unsigned* count) {
    __shared__ float tile[64];
    __shared__ bool last;
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (t < step) tile[t] += tile[t + step];
        __syncthreads();
    }
    if (t == 0) parts[blockIdx.x] = tile[0];
    __threadfence();
    if (t == 0) last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float mine = 0.0f;
        for (int i = t; i < gridDim.x; i += 64) mine += parts[i];
        tile[t] = mine;
        __syncthreads();
        for (int step = 32; step > 0; step /= 2) {
            if (t < step) tile[t] += tile[t + step];
            __syncthreads();
        }
        if (t == 0) {
            parts[0] = tile[0];
            *count = 0;
        }
    }
}
