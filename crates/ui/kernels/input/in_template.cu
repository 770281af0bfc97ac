// The mistake stands in a template that is used twice, once rightly.
// fail: E-OOB-SHARED
// launch: both<<<1, 64>>>(x: f32[64], y: f32[64] uninit)
template <int N>
__device__ float stage(const float* x) {
    __shared__ float tile[N];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    return tile[N - 1 - threadIdx.x];
}
extern "C" __global__ void both(const float* x, float* y) {
    y[threadIdx.x] = stage<64>(x) + stage<60>(x);
}
