// The tile with room for both neighbours.
// pass
// near: memory/shared_halo
// launch: blur<<<1, 64>>>(x: f32[66], y: f32[64] uninit)
extern "C" __global__ void blur(const float* x, float* y) {
    __shared__ float tile[66];
    int i = threadIdx.x;
    tile[i + 1] = x[i + 1];
    if (i == 0) tile[0] = x[0];
    if (i == 63) tile[65] = x[65];
    __syncthreads();
    y[i] = tile[i] + tile[i + 1] + tile[i + 2];
}
