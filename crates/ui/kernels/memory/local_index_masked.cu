// The index is cut to the array's length.
// pass
// near: memory/local_index
// launch: pick<<<1, 32>>>(x: f32[128], which: i32[32] all 100000, y: f32[32] uninit)
extern "C" __global__ void pick(const float* x, const int* which, float* y) {
    float mine[8];
    for (int k = 0; k < 8; k++) mine[k] = x[threadIdx.x + k];
    y[threadIdx.x] = mine[which[threadIdx.x] & 7];
}
