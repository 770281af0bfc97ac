// The mistake stands in a macro.
// fail: E-OOB-GLOBAL
// launch: scale<<<1, 128>>>(x: f32[128], y: f32[128] uninit)
#define LOAD(row, i) \
    (row[(i) + 1])
#define SCALE(out, row, i, by) \
    out[i] = LOAD(row, i) * (by)
extern "C" __global__ void scale(const float* x, float* y) {
    SCALE(y, x, threadIdx.x, 2.0f);
}
