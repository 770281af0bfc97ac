// Sums of all elements, of rows and of columns.
// sweep: some
// launch: sum_atomic<<<{ceil(n, block)}, {block}>>>(x: f32[{n}], y: f32[1], n: i32 = {n})
// launch: sum_blocks<<<{ceil(n, block)}, {block}, {4 * block}>>>(x: f32[{n}], y: f32[{ceil(n, block)}] uninit, n: i32 = {n})
// launch: sum_grid<<<{min(ceil(n, block), 132 * 4)}, {block}>>>(x: f32[{n}], y: f32[1], n: i32 = {n})
// launch: dot_grid<<<{min(ceil(n, block), 132 * 4)}, {block}>>>(x: f32[{n}], z: f32[{n}], y: f32[1], n: i32 = {n})
// launch: largest_by_warps<<<{min(ceil(n, block), 132 * 8)}, {block}>>>(x: f32[{n}], y: i32[1], n: i32 = {n})
// sweep: columns = 256 1024 4096; rows = 2^18/columns 2^22/columns 2^26/columns; block = 256
// launch: column_sums<<<{ceil(columns, block)}, {block}>>>(x: f32[{rows * columns}], y: f32[{columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
// launch: column_sums_atomic<<<({ceil(columns, block)},{ceil(rows, 64)}), {block}>>>(x: f32[{rows * columns}], y: f32[{columns}], rows: i32 = {rows}, columns: i32 = {columns})
// launch: row_sums<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows}] uninit, columns: i32 = {columns})
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}
extern "C" __global__ void sum_atomic(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = warp_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x % 32 == 0) atomicAdd(y, sum);
}
extern "C" __global__ void sum_blocks(const float* x, float* y, int n) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
extern "C" __global__ void sum_grid(const float* x, float* y, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(y, sum);
}
extern "C" __global__ void dot_grid(const float* x, const float* z, float* y, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * z[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(y, sum);
}
extern "C" __global__ void largest_by_warps(const float* x, int* y, int n) {
    float largest = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) largest = fmaxf(largest, fabsf(x[i]));
    for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_down_sync(~0u, largest, d));
    if (threadIdx.x % 32 == 0) atomicMax(y, __float_as_int(largest));
}
extern "C" __global__ void column_sums(const float* x, float* y, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    float sum = 0.0f;
    for (int r = 0; r < rows; r++) sum += x[(size_t)r * columns + c];
    y[c] = sum;
}
extern "C" __global__ void column_sums_atomic(const float* x, float* y, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    float sum = 0.0f;
    for (int r = blockIdx.y * 64; r < min(rows, (int)(blockIdx.y + 1) * 64); r++) sum += x[(size_t)r * columns + c];
    atomicAdd(&y[c], sum);
}
extern "C" __global__ void row_sums(const float* x, float* y, int columns) {
    __shared__ float part[32];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[(size_t)blockIdx.x * columns + c];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) sum += part[w];
        y[blockIdx.x] = sum;
    }
}
