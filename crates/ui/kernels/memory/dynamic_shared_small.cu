// The launch asks for half of the dynamic shared memory that the kernel uses.
// fail: E-OOB-SHARED
// launch: reverse<<<1, 64, 128>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void reverse(const float* x, float* y) {
    extern __shared__ float row[];
    row[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = row[63 - threadIdx.x];
}
