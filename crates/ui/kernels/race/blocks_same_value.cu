// The same overlap, but whoever writes an element writes the same value.
// fail: W-RACE-BENIGN
// launch: number<<<4, 32>>>(y: f32[128] zero)
extern "C" __global__ void number(float* y) {
    int i = blockIdx.x * 31 + threadIdx.x;
    y[i] = i;
}
