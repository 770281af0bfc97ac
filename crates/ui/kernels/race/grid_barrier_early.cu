// A barrier of the grid at which thread 0 announces the block before its other threads have come.
// fail: E-RACE-BLOCKS
// launch: k<<<4, 64>>>(x: f32[256], y: f32[256] uninit, z: f32[256] uninit, c: u32[1] zero) cooperative
__device__ void gsync(unsigned* c, unsigned target) {
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(c, 1);
        while (*(volatile unsigned*)c < target) {}
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void k(const float* x, float* y, float* z, unsigned* c) {
    int i = blockIdx.x * 64 + threadIdx.x;
    y[i] = x[i] * 2;
    gsync(c, 4);
    z[i] = y[255 - i];
}
