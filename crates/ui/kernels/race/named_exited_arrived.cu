// Those that return announce themselves first.
// pass
// near: race/named_exited
// launch: half<<<1, 128>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void half(const float* x, float* y) {
    __shared__ float tile[64];
    if (threadIdx.x >= 64) {
        tile[threadIdx.x - 64] = x[threadIdx.x - 64];
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        return;
    }
    asm volatile("bar.sync 1, 128;" ::: "memory");
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
