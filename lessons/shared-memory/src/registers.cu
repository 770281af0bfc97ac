// Arrays of a thread: in registers while every index is a constant, in local memory otherwise.
#include "reduce.cuh"

const int THREADS = 256;
const int EACH = 16;

// A thread has sixteen elements, which lie THREADS apart.
__device__ __forceinline__ size_t place(int j) {
    return ((size_t)blockIdx.x * EACH + j) * THREADS + threadIdx.x;
}

__device__ __forceinline__ void load(float (&v)[EACH], const float* x) {
#pragma unroll
    for (int j = 0; j < EACH; j++) v[j] = x[place(j)];
}

// ANCHOR: constant
// The compiler knows the index of every access: v is sixteen registers.
extern "C" __global__ void __launch_bounds__(THREADS)
rotate_constant(const float* x, float* out, int) {
    float v[EACH];
    load(v, x);
#pragma unroll
    for (int j = 0; j < EACH; j++) out[place(j)] = v[(j + 5) % EACH];
}
// ANCHOR_END: constant

// ANCHOR: runtime
// The compiler does not know this index of v. Registers have no address, so v is in memory.
extern "C" __global__ void __launch_bounds__(THREADS)
rotate_runtime(const float* x, float* out, int shift) {
    float v[EACH];
    load(v, x);
#pragma unroll
    for (int j = 0; j < EACH; j++) out[place(j)] = v[(j + shift) % EACH];
}
// ANCHOR_END: runtime

// ANCHOR: bits
// Any shift is allowed, and v stays in registers. For each bit of `shift` that is set, v is rotated by 1, 2, 4 or 8 places.
extern "C" __global__ void __launch_bounds__(THREADS)
rotate_by_bits(const float* x, float* out, int shift) {
    float v[EACH];
    load(v, x);
#pragma unroll
    for (int by = 1; by < EACH; by *= 2) {
        float moved[EACH];
#pragma unroll
        for (int j = 0; j < EACH; j++) moved[j] = shift & by ? v[(j + by) % EACH] : v[j];
#pragma unroll
        for (int j = 0; j < EACH; j++) v[j] = moved[j];
    }
#pragma unroll
    for (int j = 0; j < EACH; j++) out[place(j)] = v[j];
}
// ANCHOR_END: bits

// ANCHOR: shared
// Each thread has an array in shared memory. Its elements lie THREADS apart, so every lane has its own bank.
extern "C" __global__ void __launch_bounds__(THREADS)
rotate_shared(const float* x, float* out, int shift) {
    __shared__ float s[EACH][THREADS];
    float v[EACH];
    load(v, x);
#pragma unroll
    for (int j = 0; j < EACH; j++) s[j][threadIdx.x] = v[j];
#pragma unroll
    for (int j = 0; j < EACH; j++) out[place(j)] = s[(j + shift) % EACH][threadIdx.x];
}
// ANCHOR_END: shared

// ANCHOR: spill
// A warp holds a row of 2,048 elements, 64 per lane. It writes each element minus the mean of the row.
const int HELD = 64;

__device__ __forceinline__ void centre(const float* x, float* out) {
    const size_t row = (size_t)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    const size_t first = row * HELD * 32 + threadIdx.x % 32;
    float v[HELD], sum = 0.0f;
#pragma unroll
    for (int j = 0; j < HELD; j++) {
        v[j] = x[first + j * 32];
        sum += v[j];
    }
    const float mean = reduce_lanes<32>(sum, Sum()) / (HELD * 32);
#pragma unroll
    for (int j = 0; j < HELD; j++) out[first + j * 32] = v[j] - mean;
}

// Blocks of 256 threads: a thread may have up to 255 registers.
extern "C" __global__ void __launch_bounds__(THREADS)
centre_free(const float* x, float* out, int) {
    centre(x, out);
}

// And eight such blocks must fit on a multiprocessor: 32 registers, and 64 values to hold.
extern "C" __global__ void __launch_bounds__(THREADS, 8)
centre_bounded(const float* x, float* out, int) {
    centre(x, out);
}
// ANCHOR_END: spill
