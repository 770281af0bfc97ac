// One warp that waits for each result before it asks for the next: latencies. The memory holds zeros, which the compiler does not know.
// calibration
// sweep: kilobytes = 16 128 1024 16384 49152 131072 1048576; steps = 256 1024
// warm
// launch: chase_global<<<1, 1>>>(x: i32[{256 * kilobytes}] zero, y: i32[1] uninit, mask: u32 = {256 * kilobytes - 1}, steps: i32 = {steps})
// sweep: steps = 256 1024
// launch: chase_shared<<<1, 32>>>(y: i32[32] uninit, steps: i32 = {steps})
// launch: chase_shuffle<<<1, 32>>>(y: i32[32] uninit, steps: i32 = {steps})
// launch: chase_atomic_shared<<<1, 32>>>(y: i32[32] uninit, steps: i32 = {steps})
// launch: chase_atomic_global<<<1, 1>>>(y: i32[2], steps: i32 = {steps})
// sweep: steps = 256 1024; block = 32 64 128 256 512 1024
// launch: barriers<<<1, {block}>>>(y: i32[1] uninit, steps: i32 = {steps})
// launch: barriers_full<<<132, {block}>>>(y: i32[1] uninit, steps: i32 = {steps})
extern "C" __global__ void chase_global(const int* x, int* y, unsigned mask, int steps) {
    unsigned i = 0;
    for (int k = 0; k < steps; k++) i = (i + 1037 * 32 + x[i]) & mask;
    *y = i;
}
extern "C" __global__ void chase_shared(int* y, int steps) {
    __shared__ int s[1024];
    for (int k = threadIdx.x; k < 1024; k += 32) s[k] = (k + 32) % 1024;
    __syncthreads();
    int i = threadIdx.x;
    for (int k = 0; k < steps; k++) i = s[i];
    y[threadIdx.x] = i;
}
extern "C" __global__ void chase_shuffle(int* y, int steps) {
    int v = threadIdx.x;
    for (int k = 0; k < steps; k++) v = __shfl_xor_sync(~0u, v, 5);
    y[threadIdx.x] = v;
}
extern "C" __global__ void chase_atomic_shared(int* y, int steps) {
    __shared__ int s[64];
    s[threadIdx.x] = 0;
    s[threadIdx.x + 32] = 0;
    __syncwarp();
    int v = 0;
    for (int k = 0; k < steps; k++) v = atomicAdd(&s[threadIdx.x + (v & 1)], 2);
    y[threadIdx.x] = v;
}
extern "C" __global__ void chase_atomic_global(int* y, int steps) {
    int v = 0;
    for (int k = 0; k < steps; k++) v = atomicAdd(&y[v & 1], 2);
    y[0] = v;
}
extern "C" __global__ void barriers(int* y, int steps) {
    for (int k = 0; k < steps; k++) __syncthreads();
    *y = 1;
}
extern "C" __global__ void barriers_full(int* y, int steps) {
    for (int k = 0; k < steps; k++) __syncthreads();
    *y = 1;
}
