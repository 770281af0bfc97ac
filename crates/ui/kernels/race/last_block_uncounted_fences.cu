// The same with fences on both sides. Nobody looks at the count, so that nobody knows who has come before.
// fail: E-RACE-BLOCKS
// launch: sum<<<4, 1>>>(x: f32[4], parts: f32[4] zero, count: u32[1] zero, out: f32[4] uninit)
extern "C" __global__ void sum(const float* x, float* parts, unsigned* count, float* out) {
    parts[blockIdx.x] = 2.0f * x[blockIdx.x];
    __threadfence();
    atomicAdd(count, 1u);
    __threadfence();
    float total = 0.0f;
    for (int b = 0; b < blockIdx.x; b++) total += parts[b];
    out[blockIdx.x] = total;
}
