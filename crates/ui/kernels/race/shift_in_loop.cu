// The barrier stands before both: a thread writes while its neighbour still reads in the same round.
// fail: E-RACE-SHARED
// launch: shift<<<1, 128>>>(y: f32[128] uninit, n: i32 = 4)
extern "C" __global__ void shift(float* y, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = t;
    for (int i = 0; i < n; i++) {
        __syncthreads();
        float left = s[(t + 127) % 128];
        s[t] = left;
    }
    y[t] = s[t];
}
