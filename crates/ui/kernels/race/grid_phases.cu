// Two phases of a cooperative kernel without a grid barrier between them.
// fail: E-RACE-BLOCKS
// launch: phases<<<4, 32>>>(x: f32[128], mid: f32[128] zero, y: f32[128] uninit) cooperative
extern "C" __global__ void phases(const float* x, float* mid, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mid[i] = x[i] * x[i];
    __syncthreads();
    y[i] = mid[127 - i];
}
