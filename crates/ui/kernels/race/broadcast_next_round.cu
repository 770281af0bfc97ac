// In each round one thread writes what all read behind a barrier; the next round's write comes too early.
// fail: E-RACE-SHARED
// launch: rows<<<1, 64>>>(x: f32[64], y: f32[64] uninit, n: i32 = 3)
extern "C" __global__ void rows(const float* x, float* y, int n) {
    __shared__ float scale;
    float sum = 0.0f;
    for (int row = 0; row < n; row++) {
        if (threadIdx.x == 0) scale = x[row];
        __syncthreads();
        sum += x[threadIdx.x] * scale;
    }
    y[threadIdx.x] = sum;
}
