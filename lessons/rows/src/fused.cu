// Fused kernels for operations on rows. A block has one row. Names say how: `walks` reads the row two or three times,
// `shared` keeps it in shared memory, `held` in registers. The norms have 256 threads, and `held` takes rows of up to
// 4,096 floats; log_softmax has a thread for every 16 elements.
#include "activation.cuh"
#include "reduce.cuh"
#include "row.cuh"

const int THREADS = 256;
using Held = Row<float, THREADS, 4>;

// ANCHOR: l2norm_walks
// The row is read for the sum and once more for the division.
extern "C" __global__ void l2norm_walks(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) sum += x[c] * x[c];
    const float length = sqrtf(reduce_row<THREADS>(sum, sums, Sum())) + 1e-12f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) out[c] = x[c] / length;
}
// ANCHOR_END: l2norm_walks

// The row is read once, and waits in shared memory.
extern "C" __global__ void l2norm_shared(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float sums[32];
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    // ANCHOR: keep
    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = x[c];
        sum += row[c] * row[c];
    }
    // ANCHOR_END: keep
    const float norm = sqrtf(reduce_block(sum, sums, 0.0f, Sum())) + 1e-12f;
    for (int c = threadIdx.x; c < length; c += threads) out[c] = row[c] / norm;
}

// ANCHOR: l2norm_held
// The row is read once, sixteen bytes at a time, and waits in registers.
extern "C" __global__ void l2norm_held(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    Held row;
    row.load(x + blockIdx.x * columns, columns);
    const float sum = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float length = sqrtf(reduce_row<THREADS>(sum, sums, Sum())) + 1e-12f;
    row.apply([=](float v) { return v / length; });
    row.write(out + blockIdx.x * columns);
}
// ANCHOR_END: l2norm_held

// ANCHOR: log_softmax_walks
// The row is read for its largest element, for the sum of the exponentials, and for the result.
extern "C" __global__ void log_softmax_walks(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    const float nothing = __int_as_float(0xff800000);  // minus infinity
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float top = nothing;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, x[c]);
    top = reduce_block(top, maxima, nothing, Max());
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(x[c] - top);
    const float log_sum = logf(reduce_block(sum, sums, 0.0f, Sum()));
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = x[c] - top - log_sum;
}
// ANCHOR_END: log_softmax_walks

// ANCHOR: log_softmax_shared
// The row is read once. Shared memory keeps each element minus the row's maximum.
extern "C" __global__ void log_softmax_shared(const float* __restrict__ x, float* __restrict__ out, size_t rows, size_t columns) {
    extern __shared__ float row[];
    __shared__ float maxima[32], sums[32];
    const float nothing = __int_as_float(0xff800000);
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float top = nothing;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = x[c];
        top = fmaxf(top, row[c]);
    }
    top = reduce_block(top, maxima, nothing, Max());
    float sum = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] -= top;
        sum += expf(row[c]);
    }
    const float log_sum = logf(reduce_block(sum, sums, 0.0f, Sum()));
    for (int c = threadIdx.x; c < length; c += threads) out[c] = row[c] - log_sum;
}
// ANCHOR_END: log_softmax_shared

// ANCHOR: log_softmax_online
// The row is read twice: once for its maximum and its sum, and once for the result.
extern "C" __global__ void log_softmax_online(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float maxima[32], sums[32];
    const float lowest = -3.402823466e38f;
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float top = lowest, sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float value = x[c], larger = fmaxf(top, value);
        sum = sum * expf(top - larger) + expf(value - larger);
        top = larger;
    }
    // Each thread has a sum of its own, relative to a maximum of its own.
    const float largest = reduce_block(top, maxima, lowest, Max());
    const float log_sum = logf(reduce_block(sum * expf(top - largest), sums, 0.0f, Sum()));
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[c] = x[c] - largest - log_sum;
}
// ANCHOR_END: log_softmax_online

// ANCHOR: layernorm_walks
extern "C" __global__ void layernorm_bias_gelu_walks(const float* x, const float* gamma, const float* beta, const float* bias,
                                                     float* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];
    x += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) sum += x[c];
    const float mean = reduce_row<THREADS>(sum, sums, Sum()) / columns;
    float square = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) square += (x[c] - mean) * (x[c] - mean);
    const float factor = rsqrtf(reduce_row<THREADS>(square, squares, Sum()) / columns + 1e-5f);
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        out[c] = gelu_tanh((x[c] - mean) * factor * gamma[c] + beta[c] + bias[c]);
    }
}
// ANCHOR_END: layernorm_walks

// ANCHOR: layernorm_held
extern "C" __global__ void layernorm_bias_gelu_held(const float* x, const float* gamma, const float* beta, const float* bias,
                                                    float* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>], squares[WARPS<THREADS>];
    Held row;
    row.load(x + blockIdx.x * columns, columns);
    const float mean = reduce_row<THREADS>(row.fold(0.0f, Sum()), sums, Sum()) / columns;
    const float square = row.fold(0.0f, [=](float sum, float v) { return sum + (v - mean) * (v - mean); });
    const float factor = rsqrtf(reduce_row<THREADS>(square, squares, Sum()) / columns + 1e-5f);
    row.apply([=](float v, float g, float b, float c) { return gelu_tanh((v - mean) * factor * g + b + c); }, gamma, beta, bias);
    row.write(out + blockIdx.x * columns);
}
// ANCHOR_END: layernorm_held
