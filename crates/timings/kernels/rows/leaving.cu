// Blocks of which some warps end before the others: what they leave is free for the next block.
// sweep: blocks = 8448; block = 128 256 512 1024; rounds = 300 1200
// launch: one_warp_stays<<<{blocks}, {block}>>>(y: f32[{blocks * block}] uninit, rounds: i32 = {rounds})
// launch: one_warp_stays_longer<<<{blocks}, {block}>>>(y: f32[{blocks * block}] uninit, rounds: i32 = {rounds})
// launch: half_of_them_stay<<<{blocks}, {block}>>>(y: f32[{blocks * block}] uninit, rounds: i32 = {rounds})
// sweep: rows = 2^14 2^17; columns = 24 96; block = 128 256 512
// launch: rows_of_few<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
__device__ __forceinline__ void go_on(float* y, int rounds) {
    float a = 1e-3f * threadIdx.x;
    for (int i = 0; i < rounds; ++i) a = a * 1.0001f + 0.5f;
    y[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ void one_warp_stays(float* y, int rounds) {
    if (threadIdx.x >= 32) return;
    go_on(y, rounds);
}
extern "C" __global__ void one_warp_stays_longer(float* y, int rounds) {
    if (threadIdx.x >= 32) return;
    go_on(y, rounds * (1 + (blockIdx.x * 2654435761u >> 28)) / 16);
}
extern "C" __global__ void half_of_them_stay(float* y, int rounds) {
    if (threadIdx.x >= blockDim.x / 2) return;
    go_on(y, rounds);
}
// Each thread that has an element divides it by the sum of its row, which each adds up.
extern "C" __global__ void rows_of_few(const float* x, float* y, int columns) {
    if (threadIdx.x >= columns) return;
    x += (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = 0; i < columns; ++i) sum += x[i];
    y[(size_t)blockIdx.x * columns + threadIdx.x] = x[threadIdx.x] / sum;
}
