// The read-only path for one half of a buffer, writes to the other.
// pass
// near: race/restrict_alias
// launch: halves<<<2, 64>>>(x: f32[256])
extern "C" __global__ void halves(float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = 2.0f * __ldg(&x[128 + i]);
    __syncthreads();
    x[i] += __ldg(&x[128 + (i ^ 1)]);
}
