// Warps that come together, and warps that may not: `src/timing/program/divergence.rs` says of each what machine code
// of compute capability 9.0 has, made by NVRTC 13.0. The PTX beside this file is made by NVRTC with
// `--gpu-architecture=compute_90`.
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}
extern "C" __global__ void rows_by_warps(const float* x, float* y, int rows) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32, step = gridDim.x * blockDim.x / 32;
    int lane = threadIdx.x % 32;
    for (int row = first; row < rows; row += step) {
        float sum = warp_sum(x[row * 32 + lane]);
        if (lane == 0) y[row] = sum;
    }
}
extern "C" __global__ void rows_by_warps_in_y(const float* x, float* y, int rows) {
    float sum = 0;
    for (int row = threadIdx.y; row < rows; row += blockDim.y) sum += warp_sum(x[row * 32 + threadIdx.x]);
    y[threadIdx.y * 32 + threadIdx.x] = sum;
}
extern "C" __global__ void a_row_a_warp(const float* x, float* y, int rows, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = lane; i < n; i += 32) sum += x[row * n + i];
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}
extern "C" __global__ void first_warps(const float* x, float* y) {
    float sum = x[threadIdx.x];
    if (threadIdx.x < 64) sum = warp_sum(sum);
    y[threadIdx.x] = sum;
}
extern "C" __global__ void rows_by_blocks(const float* x, float* y, int rows) {
    float sum = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) sum += warp_sum(x[row * 32 + threadIdx.x]);
    y[threadIdx.x] = sum;
}
extern "C" __global__ void as_many_as_loaded(const float* x, float* y, const int* counts) {
    float sum = 0;
    int rows = counts[blockIdx.x];
    for (int row = 0; row < rows; row++) sum += warp_sum(x[row * 32 + threadIdx.x]);
    y[threadIdx.x] = sum;
}
extern "C" __global__ void as_many_as_shared(const float* x, float* y, const int* counts) {
    __shared__ int rows;
    if (threadIdx.x == 0) rows = counts[blockIdx.x];
    __syncthreads();
    float sum = 0;
    int most = rows;
    for (int row = 0; row < most; row++) sum += warp_sum(x[row * 32 + threadIdx.x]);
    y[threadIdx.x] = sum;
}
extern "C" __global__ void as_long_as_any(const int* x, int* y) {
    int v = x[threadIdx.x];
    while (__any_sync(0xffffffffu, v > 0)) {
        v -= y[v & 31];
        v += __shfl_xor_sync(0xffffffffu, v, 1) >> 3;
    }
    y[threadIdx.x] = v;
}
extern "C" __global__ void an_if_before(const float* x, float* y, int rows) {
    int lane = threadIdx.x % 32;
    float sum = 0;
    for (int row = 0; row < rows; row++) {
        float v = x[row * 32 + lane];
        if (v > 0) sum += y[row];
        v = warp_sum(v);
        if (lane == 0) y[row] = v;
        sum += v;
    }
    y[lane + 100] = sum;
}
extern "C" __global__ void work_before_the_return(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = x[i];
    if (sum < 0) {
        y[i] = 0;
        return;
    }
    y[i] = warp_sum(sum);
}
extern "C" __global__ void counted_by_votes(const int* x, int* y, int n) {
    int count = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) count += __popc(__ballot_sync(0xffffffffu, x[i] > 0));
    y[threadIdx.x] = count;
}
