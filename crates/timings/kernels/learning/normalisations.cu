// Normalisations of rows, groups and channels, softmax and its logarithm: from a warp's registers to whole blocks.
// by others
// sweep: hidden = 128 4096; rows = 2^19/hidden 2^23/hidden 2^26/hidden; block = 128
// sweep: hidden = 1152; rows = 5001; block = 64 512
// launch: rmsnorm_quantize_warp<<<{ceil(rows, block / 32)}, {block}>>>(x: f16[{rows * hidden}], weight: f16[{hidden}], q: i8[{rows * hidden}] uninit, scales: f32[{rows}] uninit, rows: i32 = {rows}, pairs: i32 = {hidden / 2}, eps: f32 = 0.000001)
// sweep: hidden = 2048 5120 8192; rows = 32 4096; block = 256
// sweep: hidden = 5120; rows = 4096; block = 128 1024
// launch: rmsnorm_staged_float4<<<{rows}, {block}, {4 * hidden}>>>(x: f32[{rows * hidden}], residual: f32[{rows * hidden}], w: f32[{hidden}], y: f32[{rows * hidden}] uninit, packs: i32 = {hidden / 4})
// sweep: columns = 768 1600; rows = 128 2048 32768; block = 256
// launch: layernorm_welford<<<{rows}, {block}>>>(x: f32[{rows * columns}], gamma: f32[{columns}], beta: f32[{columns}], mean: f32[{rows}] uninit, rstd: f32[{rows}] uninit, y: f32[{rows * columns}] uninit, columns: i32 = {columns})
// sweep: samples = 1 8; side = 16 32 128; channels = 320; block = 512
// launch: groupnorm_silu_nchw<<<{samples * 32}, {block}>>>(x: f32[{samples * channels * side * side}], gamma: f32[{channels}], beta: f32[{channels}], y: f32[{samples * channels * side * side}] uninit, channels: i32 = {channels}, groups: i32 = 32, pixels: i32 = {side * side})
// sweep: samples = 1 32; channels = 64; pixels = 112*112; block = 256
// sweep: samples = 32; channels = 512; pixels = 49 196 1024; block = 128
// launch: batchnorm_relu_nchw<<<({ceil(pixels, block)},{channels},{samples}), {block}>>>(x: f32[{samples * channels * pixels}], mean: f32[{channels}], var: f32[{channels}] all 1.5, gamma: f32[{channels}], beta: f32[{channels}], y: f32[{samples * channels * pixels}] uninit, pixels: i32 = {pixels})
// sweep: columns = 128 500 1000; rows = 301 65536
// launch: softmax_warp_registers<<<{ceil(rows, 4)}, (32,4)>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
// sweep: columns = 1000 32000; rows = 64 2048; block = 256
// sweep: columns = 32000; rows = 500; block = 128 1024
// launch: log_softmax_groups<<<{rows}, {block}>>>(x: f32[{rows * columns}], y: f32[{rows * columns}] uninit, columns: u64 = {columns})
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__device__ __forceinline__ float warp_sum(float v) {
    for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
    return v;
}
extern "C" __global__ void rmsnorm_quantize_warp(const __half2* __restrict__ x, const __half2* __restrict__ weight,
                                                 char2* __restrict__ q, float* scales, int rows, int pairs, float eps) {
    const int lane = threadIdx.x & 31, row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    x += (size_t)row * pairs;
    float sum = 0.0f;
    for (int i = lane; i < pairs; i += 32) {
        const float2 v = __half22float2(x[i]);
        sum = fmaf(v.x, v.x, fmaf(v.y, v.y, sum));
    }
    const __half2 factor = __float2half2_rn(rsqrtf(warp_sum(sum) / (2 * pairs) + eps));
    __half2 most = __float2half2_rn(0.0f);
    for (int i = lane; i < pairs; i += 32) most = __hmax2(most, __habs2(__hmul2(__hmul2(x[i], factor), weight[i])));
    const int bits = __float_as_int(__half2float(__hmax(__low2half(most), __high2half(most))));
    const float scale = __int_as_float(__reduce_max_sync(0xffffffff, bits)) / 127.0f;
    for (int i = lane; i < pairs; i += 32) {
        const float2 v = __half22float2(__hmul2(__hmul2(x[i], factor), weight[i]));
        q[(size_t)row * pairs + i] = make_char2(__float2int_rn(v.x / scale), __float2int_rn(v.y / scale));
    }
    if (lane == 0) scales[row] = scale;
}
// The row, with the residual added to it, waits in shared memory for its factor.
extern "C" __global__ void rmsnorm_staged_float4(const float4* x, float4* residual, float4* w, float4* y, int packs) {
    extern __shared__ float4 row[];
    __shared__ float sums[32], factor;
    const size_t start = (size_t)blockIdx.x * packs;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < packs; i += blockDim.x) {
        float4 v = x[start + i], r = residual[start + i];
        row[i] = residual[start + i] = v = make_float4(v.x + r.x, v.y + r.y, v.z + r.z, v.w + r.w);
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) sum = warp_sum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) factor = rsqrtf(sum / (4 * packs) + 1e-5f);
    __syncthreads();
    for (int i = threadIdx.x; i < packs; i += blockDim.x) {
        float4 v = row[i], g = __ldg(&w[i]);
        y[start + i] = make_float4(v.x * factor * g.x, v.y * factor * g.y, v.z * factor * g.z, v.w * factor * g.w);
    }
}
struct Welford { float mean, m2, n; };
__device__ Welford merged(Welford a, Welford b) {
    float n = a.n + b.n, delta = b.mean - a.mean, share = n > 0.0f ? b.n / n : 0.0f;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.n * share, n};
}
extern "C" __global__ void layernorm_welford(const float* __restrict__ x, const float* __restrict__ gamma,
                                             const float* beta, float* mean, float* rstd, float* y, int columns) {
    __shared__ Welford part[32];
    const float* row = x + (size_t)blockIdx.x * columns;
    float* out = y + (size_t)blockIdx.x * columns;
    Welford own = {0.0f, 0.0f, 0.0f};
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        float delta = row[c] - own.mean;
        own.n += 1.0f;
        own.mean += delta / own.n;
        own.m2 += delta * (row[c] - own.mean);
    }
    for (int d = 16; d > 0; d /= 2) {
        float mean = __shfl_down_sync(~0u, own.mean, d), m2 = __shfl_down_sync(~0u, own.m2, d);
        own = merged(own, {mean, m2, __shfl_down_sync(~0u, own.n, d)});
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = own;
    __syncthreads();
    own = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) own = merged(own, part[w]);
    float r = rsqrtf(own.m2 / columns + 1e-5f);
    if (threadIdx.x == 0) mean[blockIdx.x] = own.mean, rstd[blockIdx.x] = r;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (row[c] - own.mean) * r * gamma[c] + beta[c];
}
extern "C" __global__ void groupnorm_silu_nchw(const float* x, const float* gamma, const float* beta, float* y,
                                               int channels, int groups, int pixels) {
    __shared__ float sum, squares;
    int first = blockIdx.x % groups * (channels / groups), n = channels / groups * pixels;
    size_t base = (size_t)blockIdx.x * n;
    if (threadIdx.x == 0) sum = squares = 0.0f;
    __syncthreads();
    float s = 0.0f, q = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[base + i], q += x[base + i] * x[base + i];
    s = warp_sum(s), q = warp_sum(q);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, s), atomicAdd(&squares, q);
    __syncthreads();
    float mean = sum / n, factor = rsqrtf(fmaxf(squares / n - mean * mean, 0.0f) + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int c = first + i / pixels;
        float v = (x[base + i] - mean) * factor * gamma[c] + beta[c];
        y[base + i] = v / (1.0f + __expf(-v));
    }
}
extern "C" __global__ void batchnorm_relu_nchw(const float* x, const float* mean, const float* var, const float* gamma,
                                               const float* beta, float* y, int pixels) {
    int p = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (p >= pixels) return;
    size_t i = ((size_t)blockIdx.z * gridDim.y + c) * pixels + p;
    y[i] = fmaxf((x[i] - mean[c]) / sqrtf(var[c] + 1e-5f) * gamma[c] + beta[c], 0.0f);
}
// One pass keeps maximum and sum; the row stays in registers.
template <int PER_LANE> __device__ void softmax_row(const float* x, float* y, int columns, int lane) {
    float v[PER_LANE], top = -1e30f, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < PER_LANE; k++) {
        v[k] = lane + 32 * k < columns ? x[lane + 32 * k] : -1e30f;
        float next = fmaxf(top, v[k]);
        sum = sum * __expf(top - next) + __expf(v[k] - next), top = next;
    }
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_xor_sync(~0u, top, d), added = __shfl_xor_sync(~0u, sum, d), next = fmaxf(top, other);
        sum = sum * __expf(top - next) + added * __expf(other - next), top = next;
    }
    for (int k = 0; k < PER_LANE; k++)
        if (lane + 32 * k < columns) y[lane + 32 * k] = __fdividef(__expf(v[k] - top), sum);
}
extern "C" __global__ void softmax_warp_registers(const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    x += row * (size_t)columns, y += row * (size_t)columns;
    if (columns <= 128) softmax_row<4>(x, y, columns, threadIdx.x);
    else if (columns <= 512) softmax_row<16>(x, y, columns, threadIdx.x);
    else softmax_row<32>(x, y, columns, threadIdx.x);
}
extern "C" __global__ void log_softmax_groups(const float* __restrict__ x, float* __restrict__ y, size_t columns) {
    __shared__ float tops[32], sums[32];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const size_t start = block.group_index().x * columns, first = start + block.thread_rank(), end = start + columns;
    float top = -1e30f, sum = 0.0f;
    for (size_t i = first; i < end; i += block.size()) top = fmaxf(top, x[i]);
    top = cg::reduce(warp, top, cg::greater<float>());
    if (warp.thread_rank() == 0) tops[warp.meta_group_rank()] = top;
    block.sync();
    for (int w = 0; w < warp.meta_group_size(); w++) top = fmaxf(top, tops[w]);
    for (size_t i = first; i < end; i += block.size()) sum += expf(x[i] - top);
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
    block.sync();
    sum = 0.0f;
    for (int w = 0; w < warp.meta_group_size(); w++) sum += sums[w];
    const float shift = top + logf(sum);
    for (size_t i = first; i < end; i += block.size()) y[i] = x[i] - shift;
}
