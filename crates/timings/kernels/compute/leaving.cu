// Blocks of which some warps leave early: the registers and the room of these are free before the block ends.
// sweep: blocks = 1056 8448; block = 32 128 256 512 1024; steps = 2048
// launch: one_warp_stays<<<{blocks}, {block}>>>(y: f32[8448], steps: i32 = {steps})
// launch: one_warp_stays_longer<<<{blocks}, {block}>>>(y: f32[8448], steps: i32 = {steps})
// sweep: blocks = 8448; block = 64 256 512 1024; steps = 2048
// launch: half_of_them_stay<<<{blocks}, {block}>>>(y: f32[8448], steps: i32 = {steps})
// sweep: rows = 4096 65536; columns = 24 100; block = 128 256 512
// launch: rows_of_few<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}], columns: i32 = {columns})
__device__ float chain(float sum, int steps) {
    for (int i = 0; i < steps; i++) sum = fmaf(sum, 0.5f, 1.0f);
    return sum;
}
extern "C" __global__ void one_warp_stays(float* y, int steps) {
    if (threadIdx.x >= 32) return;
    const float sum = chain(threadIdx.x, steps);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
// As long as it takes differs from block to block.
extern "C" __global__ void one_warp_stays_longer(float* y, int steps) {
    if (threadIdx.x >= 32) return;
    const float sum = chain(threadIdx.x, steps + blockIdx.x * 37 % 16 * 128);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" __global__ void half_of_them_stay(float* y, int steps) {
    if (threadIdx.x >= blockDim.x / 2) return;
    const float sum = chain(threadIdx.x, steps + blockIdx.x * 37 % 16 * 128);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
// A block has a row that is shorter than the block.
extern "C" __global__ void rows_of_few(const float* x, float* y, int columns) {
    const int c = threadIdx.x;
    if (c >= columns) return;
    const size_t at = (size_t)blockIdx.x * columns + c;
    y[at] = 2.0f * x[at];
}
