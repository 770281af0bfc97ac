// pass
// near: planted/smooth
// launch: smooth<<<4, 128>>>(x: f32[490], y: f32[490] uninit, n: i32 = 490)
// The mean of each element and its two neighbours, through a tile with a border.
// All threads come to one barrier.
extern "C" __global__ void smooth(const float* x, float* y, int n) {
    __shared__ float tile[130];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x + 1] = x[i];
        if (threadIdx.x == 0) tile[0] = i > 0 ? x[i - 1] : 0.0f;
        if (threadIdx.x == blockDim.x - 1 || i == n - 1) tile[threadIdx.x + 2] = i + 1 < n ? x[i + 1] : 0.0f;
    }
    __syncthreads();
    if (i < n) {
        y[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3.0f;
    }
}
