// A pointer to the host's memory is passed in the place of a device pointer.
// fail: E-HOST-POINTER
// launch: scale<<<1, 64>>>(x: host[256], y: f32[64] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
    int i = threadIdx.x;
    y[i] = 2.0f * x[i];
}
