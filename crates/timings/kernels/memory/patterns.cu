// Accesses that are not one after the other.
// sweep: some
// launch: reverse_f32<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: i32 = {n})
// launch: gather_near<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], index: i32[{n}], y: f32[{n}] uninit, n: i32 = {n})
// launch: gather_hashed<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u32 = {n})
// launch: scatter_hashed<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: u32 = {n})
// launch: every_second<<<{ceil(n, 2 * block)}, {block}>>>(x: f32[{n}], y: f32[{n / 2}] uninit, n: i32 = {n / 2})
// launch: every_eighth<<<{ceil(n, 8 * block)}, {block}>>>(x: f32[{n}], y: f32[{n / 8}] uninit, n: i32 = {n / 8})
// launch: stencil_three<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: i32 = {n})
// launch: stencil_tile<<<{ceil(n, block)}, {block}, {4 * block + 8}>>>(x: f32[{n}], y: f32[{n}] uninit, n: i32 = {n})
// launch: interleaved_pairs<<<{ceil(n, 2 * block)}, {block}>>>(x: f32[{n}], y: f32[{n}] uninit, n: i32 = {n / 2})
// launch: offset_by_one<<<{ceil(n, block)}, {block}>>>(x: f32[{n + 1}], y: f32[{n}] uninit, n: i32 = {n})
// launch: histogram_global<<<{ceil(n, block)}, {block}>>>(x: i32[{n}], bins: i32[256] zero, n: i32 = {n})
// launch: histogram_shared<<<{min(ceil(n, block), 132 * 4)}, {block}>>>(x: i32[{n}], bins: i32[256] zero, n: i32 = {n})
// sweep: side = 512 2048 8192
// launch: blur_2d<<<({side / 32},{side / 8}), (32,8)>>>(x: f32[{side * side}], y: f32[{side * side}] uninit, n: i32 = {side})
extern "C" __global__ void reverse_f32(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i];
}
extern "C" __global__ void gather_near(const float* x, const int* index, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[(i & ~127) + index[i]];
}
extern "C" __global__ void gather_hashed(const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * 2654435761u & (n - 1)];
}
extern "C" __global__ void scatter_hashed(const float* x, float* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i * 2654435761u & (n - 1)] = x[i];
}
extern "C" __global__ void every_second(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[2 * i];
}
extern "C" __global__ void every_eighth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[8 * i];
}
extern "C" __global__ void stencil_three(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]) / 3.0f;
}
extern "C" __global__ void stencil_tile(const float* x, float* y, int n) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    if (i < n) tile[t] = x[i];
    if (threadIdx.x == 0) tile[0] = x[max(i - 1, 0)];
    if (threadIdx.x == blockDim.x - 1) tile[t + 1] = x[min(i + 1, n - 1)];
    __syncthreads();
    if (i < n) y[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3.0f;
}
extern "C" __global__ void interleaved_pairs(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float re = x[2 * i], im = x[2 * i + 1];
    y[2 * i] = re * 0.8f - im * 0.6f;
    y[2 * i + 1] = re * 0.6f + im * 0.8f;
}
extern "C" __global__ void offset_by_one(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1];
}
extern "C" __global__ void histogram_global(const int* x, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i] & 255], 1);
}
extern "C" __global__ void histogram_shared(const int* x, int* bins, int n) {
    __shared__ int own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i] & 255], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
extern "C" __global__ void blur_2d(const float* x, float* y, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    float sum = 0.0f;
    for (int dr = -1; dr <= 1; dr++) {
        for (int dc = -1; dc <= 1; dc++) sum += x[min(max(r + dr, 0), n - 1) * n + min(max(c + dc, 0), n - 1)];
    }
    y[r * n + c] = sum / 9.0f;
}
