// The second launch adds eight partial sums; the first had six blocks.
// fail: E-UNINIT-GLOBAL
// launch: partial<<<6, 32>>>(x: f32[256], parts: f32[8] uninit)
// launch: finish<<<1, 1>>>(parts, out: f32[1] uninit)
extern "C" __global__ void partial(const float* x, float* parts) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) parts[blockIdx.x] = v;
}
extern "C" __global__ void finish(const float* parts, float* out) {
    float sum = 0.0f;
    for (int b = 0; b < 8; b++) sum += parts[b];
    *out = fmaxf(sum, 0.0f);
}
