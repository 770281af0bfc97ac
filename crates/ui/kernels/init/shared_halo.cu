// A tile with a halo, of which only the inside is loaded.
// fail: E-UNINIT-SHARED
// launch: blur<<<1, 64>>>(x: f32[66], y: f32[64] uninit)
extern "C" __global__ void blur(const float* x, float* y) {
    __shared__ float tile[66];
    int i = threadIdx.x;
    tile[i + 1] = x[i + 1];
    __syncthreads();
    y[i] = tile[i] + tile[i + 1] + tile[i + 2];
}
