// One more column spreads them over all banks.
// pass
// near: performance/bank_column
// checks: performance
// launch: transpose<<<1, (32,32)>>>(x: f32[1024], y: f32[1024] uninit)
extern "C" __global__ void transpose(const float* x, float* y) {
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
