// An assertion about the input does not hold.
// fail: E-ASSERT
// launch: root<<<1, 32>>>(x: f32[32], y: f32[32] uninit)
#include <assert.h>
extern "C" __global__ void root(const float* x, float* y) {
    assert(x[threadIdx.x] > 0.0f);
    y[threadIdx.x] = sqrtf(x[threadIdx.x]);
}
