// A tree reduction without a barrier between its steps.
// fail: E-RACE-SHARED
// launch: sum<<<1, 128>>>(x: f32[128], out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
    }
    if (t == 0) *out = part[0];
}
