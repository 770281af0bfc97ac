// The columns of a tile of 32 by 32 lie in one bank.
// fail: P-BANK-CONFLICT
// checks: performance
// launch: transpose<<<1, (32,32)>>>(x: f32[1024], y: f32[1024] uninit)
extern "C" __global__ void transpose(const float* x, float* y) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
