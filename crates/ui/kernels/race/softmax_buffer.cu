// A softmax takes the row's maximum and its sum through the same slots, without a barrier between the two.
// fail: E-RACE-SHARED
// launch: softmax<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void softmax(const float* x, float* y) {
    __shared__ float slot[2];
    int t = threadIdx.x;
    float v = x[t], m = v;
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, d));
    if (t % 32 == 0) slot[t / 32] = m;
    __syncthreads();
    m = fmaxf(slot[0], slot[1]);
    float e = expf(v - m), sum = e;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (t % 32 == 0) slot[t / 32] = sum;
    __syncthreads();
    y[t] = e / (slot[0] + slot[1]);
}
