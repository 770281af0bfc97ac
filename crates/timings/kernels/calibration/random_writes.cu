// Stores of one value to anywhere, also by several threads to the same place.
// calibration
// races
// sweep: n = 2^20 2^22; range = 2^12 2^16 2^20 2^22 2^24 2^26 2^28
// launch: write_random<<<{n / 256}, 256>>>(y: f32[{range}] uninit, mask: u32 = {range - 1})
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

__device__ unsigned mixed(unsigned v) {
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}
extern "C" __global__ void write_random(float* y, unsigned mask) {
    y[mixed(THREAD) & mask] = 1.0f;
}
