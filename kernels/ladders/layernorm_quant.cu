// LayerNorm and int8 quantization with one scale a row, from naive to fast:
//     y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta,   scale = (largest |y| of the row) / 127,   q = round(y / scale)
// One block a row: the grid is `rows` blocks, of a power of two of threads, at most 1024.
//
//     layernorm_quant_naive         reads the row four times; reduces in shared memory, with a barrier for every halving
//     layernorm_quant_one_pass      reads the row once, and holds it in registers
//     layernorm_quant_vectorized    the same in 16-byte accesses
//     layernorm_quant_tuned_N       the same with N threads, reductions by shuffles with one barrier each, and a division
//                                   of three instructions that is exact all the same
//
// The first takes any row. The others hold 16 elements per thread: columns <= 16 * threads. Those with 16-byte accesses need
// a multiple of 4 columns and addresses that are multiples of 16.
#include "divide.cuh"
#include "reduce.cuh"
#include "row.cuh"

const int ELEMENTS = 16;

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

__device__ __forceinline__ signed char quantize(float y, float scale) {
    return scale > 0.0f ? (signed char)__float2int_rn(y / scale) : 0;
}

// ANCHOR: naive
extern "C" __global__ void layernorm_quant_naive(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                                 signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c];
    const float mean = reduce_tree(sum, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) square += (x[c] - mean) * (x[c] - mean);
    const float factor = rsqrtf(reduce_tree(square, Sum()) / columns + 1e-5f);
    float top = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, fabsf((x[c] - mean) * factor * gamma[c] + beta[c]));
    const float step = reduce_tree(top, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) q[c] = quantize((x[c] - mean) * factor * gamma[c] + beta[c], step);
}
// ANCHOR_END: naive

// ANCHOR: one_pass
extern "C" __global__ void __launch_bounds__(1024)
    layernorm_quant_one_pass(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                             signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;
    float value[ELEMENTS];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        value[j] = c < columns ? x[c] : 0.0f;
        sum += value[j];
    }
    const float mean = reduce_tree(sum, Sum()) / columns;
    float square = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        if (threadIdx.x + j * blockDim.x < columns) square += (value[j] - mean) * (value[j] - mean);
    }
    const float factor = rsqrtf(reduce_tree(square, Sum()) / columns + 1e-5f);
    float top = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) {
            value[j] = (value[j] - mean) * factor * gamma[c] + beta[c];
            top = fmaxf(top, fabsf(value[j]));
        }
    }
    const float step = reduce_tree(top, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
#pragma unroll
    for (int j = 0; j < ELEMENTS; j++) {
        const size_t c = threadIdx.x + j * blockDim.x;
        if (c < columns) q[c] = quantize(value[j], step);
    }
}
// ANCHOR_END: one_pass

// ANCHOR: vectorized
extern "C" __global__ void __launch_bounds__(1024)
    layernorm_quant_vectorized(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                               signed char* __restrict__ q, float* __restrict__ scale, size_t rows, size_t columns) {
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;
    float4 value[ELEMENTS / 4];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const size_t v = threadIdx.x + j * blockDim.x;
        value[j] = v < columns / 4 ? ((const float4*)x)[v] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        sum += value[j].x + value[j].y + value[j].z + value[j].w;
    }
    const float mean = reduce_tree(sum, Sum()) / columns;
    float square = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const float4 d = make_float4(value[j].x - mean, value[j].y - mean, value[j].z - mean, value[j].w - mean);
        if (threadIdx.x + j * blockDim.x < columns / 4) square += d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
    }
    const float factor = rsqrtf(reduce_tree(square, Sum()) / columns + 1e-5f);
    float top = 0.0f;
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const size_t v = threadIdx.x + j * blockDim.x;
        if (v < columns / 4) {
            const float4 g = ((const float4*)gamma)[v], b = ((const float4*)beta)[v], in = value[j];
            value[j] = make_float4((in.x - mean) * factor * g.x + b.x, (in.y - mean) * factor * g.y + b.y,
                                   (in.z - mean) * factor * g.z + b.z, (in.w - mean) * factor * g.w + b.w);
            top = fmaxf(top, fmaxf(fmaxf(fabsf(value[j].x), fabsf(value[j].y)), fmaxf(fabsf(value[j].z), fabsf(value[j].w))));
        }
    }
    const float step = reduce_tree(top, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const size_t v = threadIdx.x + j * blockDim.x;
        const float4 y = value[j];
        if (v < columns / 4) {
            ((char4*)q)[v] = make_char4(quantize(y.x, step), quantize(y.y, step), quantize(y.z, step), quantize(y.w, step));
        }
    }
}
// ANCHOR_END: vectorized

// ANCHOR: tuned
__device__ __forceinline__ signed char quantize(float y, const Divisor& step) {
    return (signed char)__float2int_rn(step.quotient_of_small(y));
}

template <typename Held, typename Step>
__device__ __forceinline__ void write_quantized(const Held& row, signed char* q, const Step& step) {
#pragma unroll
    for (int j = 0; j < ELEMENTS / 4; j++) {
        const float(&y)[4] = row.pack[j].at;
        if (row.holds(j)) {
            ((char4*)q)[row.index(j)] = make_char4(quantize(y[0], step), quantize(y[1], step), quantize(y[2], step), quantize(y[3], step));
        }
    }
}

template <int THREADS>
__device__ void layernorm_quant_tuned(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                      signed char* __restrict__ q, float* __restrict__ scale, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>], maxima[WARPS<THREADS>];
    const Divisor length((float)columns);
    Row<float, THREADS, ELEMENTS / 4> row;
    row.load(x + blockIdx.x * columns, columns);
    const float mean = length.quotient(reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum()));
    row.apply([=](float v) { return v - mean; });
    const auto add_square = [](float sum, float v) { return sum + v * v; };
    const float variance = length.quotient(reduce_row<THREADS>(row.fold(0.0f, add_square), squares, Sum()));
    const float factor = rsqrtf(variance + 1e-5f);
    row.apply([=](float v, float g, float b) { return v * factor * g + b; }, gamma, beta);
    const auto larger = [](float top, float y) { return fmaxf(top, fabsf(y)); };
    const Divisor step(reduce_row<THREADS>(row.fold(0.0f, larger), maxima, Max()) / 127.0f);
    if (threadIdx.x == 0) scale[blockIdx.x] = step.value;

    // One question for the whole row: asked for every element, it would be a branch for every element.
    if (step.ordinary) {
        write_quantized(row, q + blockIdx.x * columns, step);
    } else {
        write_quantized(row, q + blockIdx.x * columns, step.value);
    }
}

#define TUNED(THREADS)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        layernorm_quant_tuned_##THREADS(const float* __restrict__ x, const float* __restrict__ gamma,                  \
                                        const float* __restrict__ beta, signed char* __restrict__ q,                   \
                                        float* __restrict__ scale, size_t rows, size_t columns) {                      \
        layernorm_quant_tuned<THREADS>(x, gamma, beta, q, scale, columns);                                             \
    }
TUNED(64)
TUNED(256)
TUNED(1024)
// ANCHOR_END: tuned
