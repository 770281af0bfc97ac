// Freed after the last launch that uses it.
// pass
// near: memory/use_after_free
// launch: fill<<<1, 64>>>(scratch: f32[64] uninit)
// launch: sum<<<1, 64>>>(scratch, y: f32[64] uninit)
// sync
// free: scratch
extern "C" __global__ void fill(float* scratch) { scratch[threadIdx.x] = 1.0f; }
extern "C" __global__ void sum(const float* scratch, float* y) {
    y[threadIdx.x] = scratch[threadIdx.x] + 1.0f;
}
