// With one.
// pass
// near: race/total_plain
// launch: total<<<4, 32>>>(x: f32[128], sum: f32[1] zero)
extern "C" __global__ void total(const float* x, float* sum) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) atomicAdd(sum, v);
}
