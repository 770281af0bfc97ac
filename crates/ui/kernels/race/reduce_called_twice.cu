// A function that is called twice uses its slots again: the second call overwrites what the first one's threads still read.
// fail: E-RACE-SHARED
// launch: both<<<1, 128>>>(x: f32[128], y: f32[2] uninit)
__device__ float total(float v, float* slot) {
    int t = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (t % 32 == 0) slot[t / 32] = v;
    __syncthreads();
    return slot[0] + slot[1] + slot[2] + slot[3];
}
extern "C" __global__ void both(const float* x, float* y) {
    __shared__ float slot[4];
    float v = x[threadIdx.x];
    float sum = total(v, slot);
    float squares = total(v * v, slot);
    if (threadIdx.x == 0) { y[0] = sum; y[1] = squares; }
}
