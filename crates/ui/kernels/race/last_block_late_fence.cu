// The fences stand behind the counter only: a part may be announced before it is there.
// fail: E-RACE-BLOCKS
// launch: sum<<<4, 1>>>(x: f32[4], parts: f32[4] uninit, count: u32[1] zero, out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* parts, unsigned* count, float* out) {
    parts[blockIdx.x] = 2.0f * x[blockIdx.x];
    unsigned ticket = atomicAdd(count, 1u);
    __threadfence();
    if (ticket == gridDim.x - 1) {
        float total = 0.0f;
        for (int b = 0; b < gridDim.x; b++) total += parts[b];
        *out = total;
    }
}
