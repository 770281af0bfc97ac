// Reductions over the threads that share a row: lanes of a warp, or a whole block.
#pragma once

struct Sum {
    __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
    __device__ __forceinline__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// ANCHOR: lanes
// Combines the values of LANES neighbouring lanes. LANES is a power of two, and at most 32. Each of these lanes gets
// the result. All 32 lanes of the warp must take part.
template <int LANES, typename Op>
__device__ __forceinline__ float reduce_lanes(float value, Op op) {
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}
// ANCHOR_END: lanes

// The words of shared memory that a reduction over THREADS threads needs: one a warp.
template <int THREADS>
constexpr int WARPS = THREADS <= 32 ? 1 : THREADS / 32;

// ANCHOR: row
// Combines the values of the threads that share a row. Each of them gets the result. THREADS is their number, a power
// of two. Up to 32 threads are neighbouring lanes of one warp. If THREADS is larger, they are the whole block.
//
// No other reduction may use `partial`. A reduction has only one barrier: so a warp may already be in the next
// reduction while another warp still reads the partial results of this one.
template <int THREADS, typename Op>
__device__ __forceinline__ float reduce_row(float value, float (&partial)[WARPS<THREADS>], Op op) {
    if constexpr (THREADS <= 32) {
        return reduce_lanes<THREADS>(value, op);
    } else {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        value = reduce_lanes<32>(value, op);
        if (lane == 0) partial[warp] = value;
        __syncthreads();
        return reduce_lanes<WARPS<THREADS>>(partial[lane % WARPS<THREADS>], op);
    }
}
// ANCHOR_END: row

// ANCHOR: block
// The same for all threads of a block whose size only the launch knows: whole warps. `none` is what the warps that
// are not there count as: 0 for a sum.
template <typename Op>
__device__ __forceinline__ float reduce_block(float value, float (&partial)[32], float none, Op op) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = reduce_lanes<32>(value, op);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    return reduce_lanes<32>(lane < blockDim.x / 32 ? partial[lane] : none, op);
}
// ANCHOR_END: block
