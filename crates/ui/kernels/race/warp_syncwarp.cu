// __syncwarp after every step.
// pass
// near: race/warp_synchronous
// launch: sum<<<1, 32>>>(x: f32[64], out: f32[1] uninit)
extern "C" __global__ void sum(const float* x, float* out) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = x[t];
    part[t + 32] = x[t + 32];
    __syncwarp();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) part[t] += part[t + d];
        __syncwarp();
    }
    if (t == 0) *out = part[0];
}
