// The first launch sets the total, the second adds to it.
// pass
// near: init/atomic_total
// launch: clear<<<1, 1>>>(sum: f32[1] uninit)
// launch: total<<<4, 32>>>(x: f32[128], sum)
extern "C" __global__ void clear(float* sum) { *sum = 0.0f; }
extern "C" __global__ void total(const float* x, float* sum) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) atomicAdd(sum, v);
}
