// 32 by 32 are not.
// pass
// near: sync/block_too_large
// launch: scale<<<1, (32,32)>>>(x: f32[1024], y: f32[1024] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
    int i = threadIdx.y * 32 + threadIdx.x;
    y[i] = 2.0f * x[i];
}
