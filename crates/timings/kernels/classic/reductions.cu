// Sums over blocks as courses improve them step by step, and what is built in the same way.
// by others
// sweep: n = 2^16 2^20 2^24 2^27; block = 256
// sweep: n = 2^24; block = 64 1024
// launch: reduce_modulo<<<{ceil(n, block)}, {block}, {4 * block}>>>(g_idata: i32[{n}], g_odata: i32[{ceil(n, block)}] uninit, n: u32 = {n})
// launch: reduce_sequential<<<{ceil(n, block)}, {block}, {8 * block}>>>(in: f64[{n}], out: f64[{ceil(n, block)}] uninit, n: u64 = {n})
// launch: reduce_first_add<<<{ceil(n, 2 * block)}, {block}, {4 * block}>>>(g_idata: i32[{n}], g_odata: i32[{ceil(n, 2 * block)}] uninit, n: u32 = {n})
// sweep: n = 2^16 2^22; blocks = 64
// sweep: n = 2^22 2^26 2^28; blocks = 1024
// launch: reduce_unrolled_256<<<{blocks}, 256>>>(in: f32[{n}], out: f32[{blocks}] uninit, n: u32 = {n})
// sweep: n = 100000 2^22 2^26; block = 128
// sweep: n = 2^24; block = 32 512
// launch: reduce_tiles<<<{min(ceil(n, block), 132 * 16)}, {block}>>>(in: f32[{n}], total: f32[1] zero, n: i32 = {n})
// sweep: n = 2^18 2^22 2^26 2^28; block = 256
// sweep: n = 2^26; block = 1024
// launch: reduce_vectors_atomic<<<{min(ceil(n, 4 * block), 132 * 2)}, {block}>>>(in: f32[{n}], total: f64[1] zero, n: u64 = {n})
// sweep: n = 33000 2^20 2^22; blocks = 32
// sweep: n = 2^22 2^26; blocks = 528
// launch: dot_cache<<<{blocks}, 256>>>(a: f32[{n}], b: f32[{n}], c: f32[{blocks}] uninit, n: i32 = {n})
// sweep: n = 2^16 1000000 2^25; block = 256
// sweep: n = 2^20; block = 64 1024
// launch: min_max_atomic<<<{ceil(n, 4 * block)}, {block}>>>(data: i32[{n}], result: i32[2] zero, n: i32 = {n})
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Interleaved addressing, which threads take part found by a modulo.
extern "C" __global__ void reduce_modulo(int* g_idata, int* g_odata, unsigned int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

extern "C" __global__ void reduce_sequential(const double* in, double* out, size_t n) {
    extern __shared__ double partial[];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0.0;
    for (unsigned s = blockDim.x >> 1; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void reduce_first_add(int* g_idata, int* g_odata, unsigned int n) {
    extern __shared__ int sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    int mySum = (i < n) ? g_idata[i] : 0;
    if (i + blockDim.x < n) mySum += g_idata[i + blockDim.x];
    sdata[tid] = mySum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] = mySum = mySum + sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = mySum;
}

template <unsigned int BLOCK>
__device__ void reduce_unrolled(const float* __restrict__ in, float* __restrict__ out, unsigned int n) {
    __shared__ float s[BLOCK];
    const unsigned int t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned int i = blockIdx.x * BLOCK * 2 + t; i < n; i += BLOCK * 2 * gridDim.x) {
        sum += in[i];
        if (i + BLOCK < n) sum += in[i + BLOCK];
    }
    s[t] = sum;
    __syncthreads();
    if (BLOCK >= 512) {
        if (t < 256) s[t] = sum = sum + s[t + 256];
        __syncthreads();
    }
    if (BLOCK >= 256) {
        if (t < 128) s[t] = sum = sum + s[t + 128];
        __syncthreads();
    }
    if (BLOCK >= 128) {
        if (t < 64) s[t] = sum = sum + s[t + 64];
        __syncthreads();
    }
    if (t < 32) {
        sum += s[t + 32];
#pragma unroll
        for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (t == 0) out[blockIdx.x] = sum;
    }
}
extern "C" __global__ void reduce_unrolled_256(const float* in, float* out, unsigned int n) {
    reduce_unrolled<256>(in, out, n);
}

extern "C" __global__ void reduce_tiles(const float* in, float* total, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float sum = 0.0f;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size()) {
        sum += in[i];
    }
    for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
    if (tile.thread_rank() == 0) atomicAdd(total, sum);
}

extern "C" __global__ void reduce_vectors_atomic(const float4* __restrict__ in, double* total, size_t n) {
    __shared__ float warps[32];
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += step) {
        float4 v = __ldg(&in[i]);
        acc.x += v.x, acc.y += v.y, acc.z += v.z, acc.w += v.w;
    }
    float sum = (acc.x + acc.y) + (acc.z + acc.w);
    for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    if (warp != 0) return;
    sum = lane < blockDim.x >> 5 ? warps[lane] : 0.0f;
    for (int mask = 16; mask; mask >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (lane == 0) atomicAdd(total, (double)sum);
}

#define THREADS 256
extern "C" __global__ void dot_cache(float* a, float* b, float* c, int n) {
    __shared__ float cache[THREADS];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

extern "C" __global__ void min_max_atomic(const int* data, int* result, int n) {
    __shared__ int low, high;
    if (threadIdx.x == 0) low = 2147483647, high = -2147483647 - 1;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * blockDim.x * 4 + k * blockDim.x + threadIdx.x;
        if (i < n) {
            atomicMin(&low, data[i]);
            atomicMax(&high, data[i]);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&result[0], low);
        atomicMax(&result[1], high);
    }
}
