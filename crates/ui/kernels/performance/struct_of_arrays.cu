// The field has an array of its own.
// pass
// near: performance/array_of_structs
// checks: performance
// launch: heights<<<8, 32>>>(z: f32[256], y: f32[256] uninit)
extern "C" __global__ void heights(const float* z, float* y) {
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = z[i];
}
