// pass
// near: planted/sum_last_block
// launch: sum_last_block<<<8, 128>>>(x: f32[1024], parts: f32[8] uninit, done: u32[1] zero, total: f32[1] uninit)
// Each block leaves its part; whichever block is last adds the parts up.
// A fence before the part is announced, and one before the parts are read.
extern "C" __global__ void sum_last_block(const float* x, float* parts, unsigned* done, float* total) {
    __shared__ float tile[128];
    __shared__ bool last;
    tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = tile[0];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float all = 0.0f;
        for (int b = 0; b < gridDim.x; b++) all += parts[b];
        *total = all;
    }
}
