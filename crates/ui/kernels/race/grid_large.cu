// More blocks count themselves than are told apart: inside a block, the barriers still say what is ordered.
// pass
// near: race/grid_large_no_barrier
// launch: exchange<<<4200, 64>>>(count: u32[1] zero, y: f32[64] zero)
extern "C" __global__ void exchange(unsigned* count, float* y) {
    __shared__ unsigned before;
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t == 0) {
        __threadfence();
        before = atomicAdd(count, 1);
        __threadfence();
    }
    __syncthreads();
    tile[t] = t + before;
    __syncthreads();
    if (tile[t ^ 33] < 0.0f) y[t] = 1.0f;
}
