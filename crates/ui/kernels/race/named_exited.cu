// Half of the block writes and returns; a barrier that counts the others does not know of it.
// fail: E-RACE-SHARED
// launch: half<<<1, 128>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void half(const float* x, float* y) {
    __shared__ float tile[64];
    if (threadIdx.x >= 64) {
        tile[threadIdx.x - 64] = x[threadIdx.x - 64];
        return;
    }
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
