// Each thread scales 32 elements of its own, one after another.
// fail: P-UNCOALESCED
// checks: performance
// launch: scale<<<1, 64>>>(x: f32[2048], y: f32[2048] uninit)
extern "C" __global__ void scale(const float* x, float* y) {
#pragma unroll 1
    for (int k = 0; k < 32; k++) {
        int i = threadIdx.x * 32 + k;
        y[i] = 2.0f * x[i];
    }
}
