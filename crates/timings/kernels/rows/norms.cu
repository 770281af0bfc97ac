// Normalisations of rows as a beginner writes them, and some that are written better.
// sweep: matrix
// launch: layernorm_walks<<<{rows}, {block}>>>(x: f32[{rows * columns}], gamma: f32[{columns}], beta: f32[{columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: rmsnorm_bf16<<<{rows}, {block}>>>(x: bf16[{rows * columns}], w: bf16[{columns}], y: bf16[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: columns = 256 1024 4096; rows = 2^18/columns 2^22/columns 2^26/columns; block = 256
// launch: layernorm_one_walk<<<{rows}, {block}>>>(x: f32[{rows * columns}], gamma: f32[{columns}], beta: f32[{columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// launch: layernorm_quantize<<<{rows}, {block}>>>(x: f32[{rows * columns}], gamma: f32[{columns}], beta: f32[{columns}], q: i8[{rows * columns}] uninit, scale: f32[{rows}] uninit, columns: i32 = {columns})
// launch: add_rmsnorm_bf16<<<{rows}, {block}>>>(x: bf16[{rows * columns}], r: bf16[{rows * columns}], w: bf16[{columns}], y: bf16[{rows * columns}] uninit, columns: i32 = {columns})
// launch: rmsnorm_x8<<<{rows}, {columns / 8}>>>(x: bf16[{rows * columns}], w: bf16[{columns}], y: bf16[{rows * columns}] uninit, columns: i32 = {columns})
// launch: l2norm_atomic<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: columns = 64 256 1024; rows = 2^18/columns 2^22/columns 2^26/columns; block = 256
// launch: l2norm_warp<<<{ceil(rows * 32, block)}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
#include <cuda_bf16.h>

__device__ float block_sum(float v, float* part) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < (blockDim.x + 31) / 32; w++) sum += part[w];
    return sum;
}
extern "C" __global__ void layernorm_walks(const float* x, const float* gamma, const float* beta, float* y, int columns) {
    __shared__ float part[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    float mean = block_sum(sum, part) / columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (x[c] - mean) * (x[c] - mean);
    float factor = rsqrtf(block_sum(squares, part) / columns + 1e-5f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
extern "C" __global__ void layernorm_one_walk(const float* x, const float* gamma, const float* beta, float* y, int columns) {
    __shared__ float part[32], parts[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        sum += x[c];
        squares += x[c] * x[c];
    }
    float mean = block_sum(sum, part) / columns;
    float factor = rsqrtf(block_sum(squares, parts) / columns - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = (x[c] - mean) * factor * gamma[c] + beta[c];
}
extern "C" __global__ void layernorm_quantize(const float* x, const float* gamma, const float* beta, signed char* q, float* scale,
                                              int columns) {
    __shared__ float part[32];
    __shared__ int largest;
    x += (size_t)blockIdx.x * columns;
    q += (size_t)blockIdx.x * columns;
    if (threadIdx.x == 0) largest = 0;
    float sum = 0.0f, squares = 0.0f, most = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    float mean = block_sum(sum, part) / columns;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (x[c] - mean) * (x[c] - mean);
    float factor = rsqrtf(block_sum(squares, part) / columns + 1e-5f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        most = fmaxf(most, fabsf((x[c] - mean) * factor * gamma[c] + beta[c]));
    }
    atomicMax(&largest, __float_as_int(most));
    __syncthreads();
    float step = __int_as_float(largest) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        q[c] = (signed char)rintf(((x[c] - mean) * factor * gamma[c] + beta[c]) / step);
    }
}
extern "C" __global__ void rmsnorm_bf16(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int columns) {
    __shared__ float part[32];
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += __bfloat162float(x[c]) * __bfloat162float(x[c]);
    float factor = rsqrtf(block_sum(squares, part) / columns + 1e-6f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        y[c] = __float2bfloat16(__bfloat162float(x[c]) * factor * __bfloat162float(w[c]));
    }
}
extern "C" __global__ void add_rmsnorm_bf16(const __nv_bfloat16* x, __nv_bfloat16* r, const __nv_bfloat16* w, __nv_bfloat16* y,
                                            int columns) {
    __shared__ float part[32];
    x += (size_t)blockIdx.x * columns;
    r += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float v = __bfloat162float(x[c]) + __bfloat162float(r[c]);
        r[c] = __float2bfloat16(v);
        squares += v * v;
    }
    float factor = rsqrtf(block_sum(squares, part) / columns + 1e-6f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        y[c] = __float2bfloat16(__bfloat162float(r[c]) * factor * __bfloat162float(w[c]));
    }
}
// A thread holds eight neighbours, and the block the row.
extern "C" __global__ void rmsnorm_x8(const uint4* x, const uint4* w, uint4* y, int columns) {
    __shared__ float part[32];
    union Pack { uint4 bits; __nv_bfloat162 pair[4]; } v, u;
    size_t i = (size_t)blockIdx.x * (columns / 8) + threadIdx.x;
    v.bits = x[i];
    u.bits = w[threadIdx.x];
    float squares = 0.0f;
    for (int k = 0; k < 4; k++) {
        float2 f = __bfloat1622float2(v.pair[k]);
        squares += f.x * f.x + f.y * f.y;
    }
    float factor = rsqrtf(block_sum(squares, part) / columns + 1e-6f);
    for (int k = 0; k < 4; k++) {
        float2 f = __bfloat1622float2(v.pair[k]), g = __bfloat1622float2(u.pair[k]);
        v.pair[k] = __floats2bfloat162_rn(f.x * factor * g.x, f.y * factor * g.y);
    }
    y[i] = v.bits;
}
extern "C" __global__ void l2norm_atomic(const float* x, float* y, int columns) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0.0f;
    __syncthreads();
    x += (size_t)blockIdx.x * columns;
    y += (size_t)blockIdx.x * columns;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += x[c] * x[c];
    atomicAdd(&sum, squares);
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += blockDim.x) y[c] = x[c] / (sqrtf(sum) + 1e-12f);
}
extern "C" __global__ void l2norm_warp(const float* x, float* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    x += (size_t)row * columns;
    y += (size_t)row * columns;
    float squares = 0.0f;
    for (int c = threadIdx.x % 32; c < columns; c += 32) squares += x[c] * x[c];
    for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(~0u, squares, d);
    for (int c = threadIdx.x % 32; c < columns; c += 32) y[c] = x[c] / (sqrtf(squares) + 1e-12f);
}
