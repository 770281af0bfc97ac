// Softmax in the ways in which it is written: with a tree in shared memory, with shuffles, online, a warp or a thread per row.
// sweep: matrix
// launch: softmax_tree<<<{rows}, {block}, {4 * block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: softmax_shuffle<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: columns = 64 256 1024 4096; rows = 2^18/columns 2^22/columns 2^26/columns; block = 128
// launch: softmax_warp<<<{ceil(rows * 32, block)}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
// launch: softmax_online<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: softmax_kept<<<{rows}, {block}, {4 * columns}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: columns = 64 256; rows = 2^18/columns 2^22/columns; block = 128
// launch: softmax_thread<<<{ceil(rows, block)}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
extern "C" __global__ void softmax_tree(const float* x, float* y, int columns) {
    extern __shared__ float part[];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float largest = -1e30f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, x[c]);
    part[threadIdx.x] = largest;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
        __syncthreads();
    }
    largest = part[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(x[c] - largest);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    sum = part[0];
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = expf(x[c] - largest) / sum;
}

__device__ float warp_max(float v) {
    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    return v;
}
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}
__device__ float block_max(float v, float* part) {
    v = warp_max(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_max(threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : -1e30f);
}
__device__ float block_sum(float v, float* part) {
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f);
}
extern "C" __global__ void softmax_shuffle(const float* x, float* y, int columns) {
    __shared__ float maxima[32], sums[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float largest = -1e30f, sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, x[c]);
    largest = block_max(largest, maxima);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(x[c] - largest);
    sum = block_sum(sum, sums);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = expf(x[c] - largest) / sum;
}
extern "C" __global__ void softmax_warp(const float* x, float* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += (size_t)row * columns;
    y += (size_t)row * columns;
    float largest = -1e30f, sum = 0.0f;
    for (int c = lane; c < columns; c += 32) largest = fmaxf(largest, x[c]);
    largest = warp_max(largest);
    for (int c = lane; c < columns; c += 32) sum += expf(x[c] - largest);
    sum = warp_sum(sum);
    for (int c = lane; c < columns; c += 32) y[c] = expf(x[c] - largest) / sum;
}
extern "C" __global__ void softmax_online(const float* x, float* y, int columns) {
    __shared__ float maxima[32], sums[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float largest = -1e30f, sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float larger = fmaxf(largest, x[c]);
        sum = sum * expf(largest - larger) + expf(x[c] - larger);
        largest = larger;
    }
    float all = block_max(largest, maxima);
    sum = block_sum(sum * expf(largest - all), sums);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = expf(x[c] - all) / sum;
}
extern "C" __global__ void softmax_kept(const float* x, float* y, int columns) {
    extern __shared__ float row[];
    __shared__ float maxima[32], sums[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float largest = -1e30f, sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = x[c];
        largest = fmaxf(largest, row[c]);
    }
    largest = block_max(largest, maxima);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        row[c] = expf(row[c] - largest);
        sum += row[c];
    }
    sum = block_sum(sum, sums);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = row[c] / sum;
}
extern "C" __global__ void softmax_thread(const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += (size_t)row * columns;
    y += (size_t)row * columns;
    float largest = -1e30f, sum = 0.0f;
    for (int c = 0; c < columns; c++) largest = fmaxf(largest, x[c]);
    for (int c = 0; c < columns; c++) sum += expf(x[c] - largest);
    for (int c = 0; c < columns; c++) y[c] = expf(x[c] - largest) / sum;
}
