// An index is one past the end of a thread's own array, where nothing but padding lies.
// fail: E-OOB-LOCAL
// launch: pick<<<1, 4>>>(x: f32[16], which: i32[4] all 6, y: f32[4] uninit)
extern "C" __global__ void pick(const float* x, const int* which, float* y) {
    float mine[6];
    for (int k = 0; k < 6; k++) mine[k] = x[threadIdx.x + k];
    y[threadIdx.x] = mine[which[threadIdx.x]];
}
