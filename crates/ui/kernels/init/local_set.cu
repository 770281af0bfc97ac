// As many are summed as were set.
// pass
// near: init/local_partly_set
// launch: sums<<<1, 32>>>(x: f32[128], count: i32 = 4, set: i32 = 4, y: f32[32] uninit)
extern "C" __global__ void sums(const float* x, int count, int set, float* y) {
    float mine[8];
#pragma unroll 1
    for (int k = 0; k < set; k++) mine[k] = x[4 * threadIdx.x + k];
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < count; k++) sum += mine[k];
    y[threadIdx.x] = sum;
}
