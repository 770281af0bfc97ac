// Four bytes for each of the 64 floats.
// pass
// near: memory/dynamic_shared_small
// launch: reverse<<<1, 64, 256>>>(x: f32[64], y: f32[64] uninit)
extern "C" __global__ void reverse(const float* x, float* y) {
    extern __shared__ float row[];
    row[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = row[63 - threadIdx.x];
}
