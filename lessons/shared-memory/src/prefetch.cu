// A loop over tiles: fetch 4 KiB, compute with them, fetch the next. The kernels differ in when the
// next tile is asked for.
// Block b has the tiles b, b + gridDim.x, ... and writes the sum of what each thread computed.
#include "async.cuh"

const int THREADS = 128;
const int TILE = 1024;  // floats: two packs of 16 bytes per thread
const int STEPS = 16;

// Sixteen dependent multiply-adds for each of the four elements of a pack.
__device__ __forceinline__ float work(float4 v) {
    float4 p = v;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        p.x = p.x * v.x + 0.5f;
        p.y = p.y * v.y + 0.5f;
        p.z = p.z * v.z + 0.5f;
        p.w = p.w * v.w + 0.5f;
    }
    return (p.x + p.y) + (p.z + p.w);
}

// A thread computes with what another one has fetched, as in most tiles: so barriers are needed.
__device__ __forceinline__ float work_on(const float4* tile) {
    const int other = THREADS - 1 - threadIdx.x;
    return work(tile[other]) + work(tile[THREADS + other]);
}

// ANCHOR: loads
// Ordinary loads: into registers, from there into the tile.
extern "C" __global__ void __launch_bounds__(THREADS)
tiles_loads(const float4* x, float* sums, int tiles) {
    __shared__ float4 tile[TILE / 4];
    float sum = 0.0f;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const float4* from = x + (size_t)t * (TILE / 4);
        tile[threadIdx.x] = from[threadIdx.x];
        tile[THREADS + threadIdx.x] = from[THREADS + threadIdx.x];
        __syncthreads();
        sum += work_on(tile);
        __syncthreads();
    }
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}
// ANCHOR_END: loads

// ANCHOR: async
// Asks for tile t, if there is one. Each call is one group of copies, also without a tile.
__device__ __forceinline__ void ask(float4* tile, const float4* x, int t, int tiles) {
    const float4* from = x + (size_t)(t < tiles ? t : 0) * (TILE / 4);
    copy16_async(&tile[threadIdx.x], &from[threadIdx.x], t < tiles);
    copy16_async(&tile[THREADS + threadIdx.x], &from[THREADS + threadIdx.x], t < tiles);
    commit_copies();
}

// With BUFFERS tiles on the chip, BUFFERS - 1 are in flight while the block computes with one.
template <int BUFFERS>
__device__ __forceinline__ void tiles_async(const float4* x, float* sums, int tiles) {
    __shared__ float4 tile[BUFFERS][TILE / 4];
#pragma unroll
    for (int b = 0; b < BUFFERS - 1; b++) ask(tile[b], x, blockIdx.x + b * gridDim.x, tiles);
    float sum = 0.0f;
    int now = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int next = (now + BUFFERS - 1) % BUFFERS;
        ask(tile[next], x, t + (BUFFERS - 1) * gridDim.x, tiles);
        wait_for_copies<BUFFERS - 1>();
        __syncthreads();
        sum += work_on(tile[now]);
        __syncthreads();
        now = (now + 1) % BUFFERS;
    }
    wait_for_copies<0>();
    sums[blockIdx.x * THREADS + threadIdx.x] = sum;
}
// ANCHOR_END: async

extern "C" __global__ void __launch_bounds__(THREADS)
tiles_1_buffer(const float4* x, float* sums, int tiles) {
    tiles_async<1>(x, sums, tiles);
}
extern "C" __global__ void __launch_bounds__(THREADS)
tiles_2_buffers(const float4* x, float* sums, int tiles) {
    tiles_async<2>(x, sums, tiles);
}
extern "C" __global__ void __launch_bounds__(THREADS)
tiles_4_buffers(const float4* x, float* sums, int tiles) {
    tiles_async<4>(x, sums, tiles);
}
