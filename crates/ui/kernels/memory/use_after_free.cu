// The scratch buffer was freed before the launch that uses it.
// fail: E-USE-AFTER-FREE
// launch: fill<<<1, 64>>>(scratch: f32[64] uninit)
// sync
// free: scratch
// launch: sum<<<1, 64>>>(scratch, y: f32[64] uninit)
extern "C" __global__ void fill(float* scratch) { scratch[threadIdx.x] = 1.0f; }
extern "C" __global__ void sum(const float* scratch, float* y) {
    y[threadIdx.x] = scratch[threadIdx.x] + 1.0f;
}
