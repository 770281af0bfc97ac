// Softmax of the rows of a matrix, from naive to fast: out = exp(x - largest of its row) / (their sum), all f32.
// One block a row: the grid is `rows` blocks, of a power of two of threads, at most 1024.
//
//     softmax_naive         reads the row three times; reduces in shared memory, with a barrier for every halving
//     softmax_one_pass      reads the row once, and holds it in registers
//     softmax_vectorized    the same in 16-byte accesses
//     softmax_tuned_N       the same with N threads, reductions by shuffles with one barrier each, and the hardware's
//                           exponential
//
// The first takes any row. The others hold 16 elements per thread: columns <= 16 * threads. Those with 16-byte accesses need
// a multiple of 4 columns and addresses that are multiples of 16.
#include "reduce.cuh"
#include "row.cuh"

const int ELEMENTS = 16;

__device__ __forceinline__ float minus_infinity() {
    return __int_as_float(0xff800000);
}

// ANCHOR: tree
// Combines one value of every thread by halving the number of threads that still combine. Every halving waits for all.
template <typename Op>
__device__ float reduce_tree(float value, Op op) {
    __shared__ float values[1024];
    values[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) values[threadIdx.x] = op(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    const float result = values[0];
    __syncthreads();
    return result;
}
// ANCHOR_END: tree

// ANCHOR: naive
extern "C" __global__ void softmax_naive(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float top = minus_infinity();
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, x[c]);
    top = reduce_tree(top, Max());
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(x[c] - top);
    sum = reduce_tree(sum, Sum());
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(x[c] - top) / sum;
}
// ANCHOR_END: naive

// ANCHOR: one_pass
extern "C" __global__ void __launch_bounds__(1024)
    softmax_one_pass(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float value[ELEMENTS];
    float top = minus_infinity();
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        value[j] = c < columns ? x[c] : minus_infinity();
        top = fmaxf(top, value[j]);
    }
    top = reduce_tree(top, Max());
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        value[j] = expf(value[j] - top);
        sum += value[j];
    }
    sum = reduce_tree(sum, Sum());
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) out[c] = value[j] / sum;
    }
}
// ANCHOR_END: one_pass

// ANCHOR: vectorized
extern "C" __global__ void __launch_bounds__(1024)
    softmax_vectorized(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;
    float4 value[ELEMENTS / 4];
    float top = minus_infinity();
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const size_t v = threadIdx.x + j * blockDim.x;
        const float none = minus_infinity();
        value[j] = v < columns / 4 ? ((const float4*)x)[v] : make_float4(none, none, none, none);
        top = fmaxf(top, fmaxf(fmaxf(value[j].x, value[j].y), fmaxf(value[j].z, value[j].w)));
    }
    top = reduce_tree(top, Max());
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        value[j] = make_float4(expf(value[j].x - top), expf(value[j].y - top), expf(value[j].z - top), expf(value[j].w - top));
        sum += value[j].x + value[j].y + value[j].z + value[j].w;
    }
    sum = reduce_tree(sum, Sum());
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const size_t v = threadIdx.x + j * blockDim.x;
        const float4 e = value[j];
        if (v < columns / 4) ((float4*)out)[v] = make_float4(e.x / sum, e.y / sum, e.z / sum, e.w / sum);
    }
}
// ANCHOR_END: vectorized

// ANCHOR: tuned
template <int THREADS>
__device__ void softmax_tuned(const float* __restrict__ x, float* __restrict__ out, size_t columns) {
    __shared__ float maxima[WARPS<THREADS>], sums[WARPS<THREADS>];
    Row<float, THREADS, ELEMENTS / 4> row;
    row.load(x + blockIdx.x * columns, columns);
    const float top = reduce_row<THREADS>(row.fold(minus_infinity(), Max()), maxima, Max());
    row.apply([=](float v) { return __expf(v - top); });
    const float sum = reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum());
    const float factor = 1.0f / sum;
    row.apply([=](float v) { return v * factor; });
    row.write(out + blockIdx.x * columns);
}

#define TUNED(THREADS)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        softmax_tuned_##THREADS(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {   \
        softmax_tuned<THREADS>(x, out, columns);                                                                       \
    }
TUNED(64)
TUNED(256)
TUNED(1024)
// ANCHOR_END: tuned
