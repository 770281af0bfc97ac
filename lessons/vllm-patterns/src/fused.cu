// The fused kernels that stand around a transformer's matrix products. Elementwise kernels take any size. Row kernels
// have a block for each row: 256 threads, or for rmsnorm_quant a thread for every 16 elements. Those that hold a row in
// registers take up to 4,096 bf16.
#include "activation.cuh"
#include "pack.cuh"
#include "reduce.cuh"
#include "row.cuh"

__device__ __forceinline__ float gated(float gate, float up) {
    return gate / (1.0f + expf(-gate)) * up;
}

// ANCHOR: silu_mul
extern "C" __global__ void silu_mul_scalar(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2bfloat16(gated(__bfloat162float(gate[i]), __bfloat162float(up[i])));
}
// ANCHOR_END: silu_mul

// ANCHOR: silu_mul_packed
// Eight elements per thread, which are 16 bytes.
extern "C" __global__ void silu_mul_packed(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t p = thread; p < n / 8; p += threads) {
        store_pack(out, p, map(gated, load_pack(gate, p), load_pack(up, p)));
    }
    for (size_t i = n / 8 * 8 + thread; i < n; i += threads) {
        out[i] = from_float<__nv_bfloat16>(gated(to_float(gate[i]), to_float(up[i])));
    }
}
// ANCHOR_END: silu_mul_packed

// ANCHOR: activation
extern "C" __global__ void add_residual_by_argument(const float* x, const float* residual, float* out, int act, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float t = x[i] + residual[i];
    out[i] = act == 0 ? fmaxf(t, 0.0f) : act == 1 ? gelu_tanh(t) : t / (1.0f + expf(-t));
}
// ANCHOR_END: activation

// ANCHOR: bias_act
struct Relu {
    __device__ float operator()(float t) const { return fmaxf(t, 0.0f); }
};
struct Gelu {
    __device__ float operator()(float t) const { return gelu_tanh(t); }
};
struct Silu {
    __device__ float operator()(float t) const { return t / (1.0f + expf(-t)); }
};

// One text for three kernels. The compiler knows which activation it is, so no thread has to check.
template <typename Activation>
__device__ void bias_act(const float* x, const float* bias, float* out, size_t columns) {
    const Activation activation;
    const size_t first = blockIdx.x * columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[first + c] = activation(x[first + c] + bias[c]);
}

extern "C" __global__ void bias_relu(const float* x, const float* bias, float* out, size_t rows, size_t columns) {
    bias_act<Relu>(x, bias, out, columns);
}
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* out, size_t rows, size_t columns) {
    bias_act<Gelu>(x, bias, out, columns);
}
extern "C" __global__ void bias_silu(const float* x, const float* bias, float* out, size_t rows, size_t columns) {
    bias_act<Silu>(x, bias, out, columns);
}
// ANCHOR_END: bias_act

// ANCHOR: rmsnorm_quant_walks
// The row is read for the sum of squares, for the largest |y|, and for the result.
extern "C" __global__ void rmsnorm_quant_walks(const float* x, const float* weight, signed char* q, float* scale, size_t rows,
                                               size_t columns) {
    __shared__ float sums[32], maxima[32];
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c] * x[c];
    const float factor = rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / columns + 1e-6f);
    float largest = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, fabsf(x[c] * factor * weight[c]));
    const float step = reduce_block(largest, maxima, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
    const float divisor = step > 0.0f ? step : 1.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        q[c] = (signed char)__float2int_rn(x[c] * factor * weight[c] / divisor);
    }
}
// ANCHOR_END: rmsnorm_quant_walks

// ANCHOR: rmsnorm_quant_shared
// The row is read once, and waits in shared memory. y takes the place of x there.
extern "C" __global__ void rmsnorm_quant_shared(const float* __restrict__ x, const float* __restrict__ weight,
                                                signed char* __restrict__ q, float* __restrict__ scale, size_t rows,
                                                size_t columns) {
    extern __shared__ float row[];
    __shared__ float sums[32], maxima[32];
    const int length = columns, threads = blockDim.x;
    x += blockIdx.x * columns;
    q += blockIdx.x * columns;

    float sum = 0.0f;
#pragma unroll 8
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] = x[c];
        sum += row[c] * row[c];
    }
    const float factor = rsqrtf(reduce_block(sum, sums, 0.0f, Sum()) / length + 1e-6f);
    float largest = 0.0f;
    for (int c = threadIdx.x; c < length; c += threads) {
        row[c] *= factor * weight[c];
        largest = fmaxf(largest, fabsf(row[c]));
    }
    const float step = reduce_block(largest, maxima, 0.0f, Max()) / 127.0f;
    if (threadIdx.x == 0) scale[blockIdx.x] = step;
    const float divisor = step > 0.0f ? step : 1.0f;  // a row of zeros: divided by 1, it stays zeros
    for (int c = threadIdx.x; c < length; c += threads) q[c] = (signed char)__float2int_rn(row[c] / divisor);
}
// ANCHOR_END: rmsnorm_quant_shared

const int THREADS = 256;
using Held = Row<__nv_bfloat16, THREADS, 2>;

// ANCHOR: add_rmsnorm_walks
extern "C" __global__ void add_rmsnorm_walks(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* residual,
                                             __nv_bfloat16* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    x += blockIdx.x * columns;
    residual += blockIdx.x * columns;
    out += blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        residual[c] = __float2bfloat16(__bfloat162float(residual[c]) + __bfloat162float(x[c]));
        const float v = __bfloat162float(residual[c]);
        sum += v * v;
    }
    const float factor = rsqrtf(reduce_row<THREADS>(sum, sums, Sum()) / columns + 1e-6f);
    for (size_t c = threadIdx.x; c < columns; c += THREADS) {
        out[c] = __float2bfloat16(__bfloat162float(residual[c]) * factor * __bfloat162float(weight[c]));
    }
}
// ANCHOR_END: add_rmsnorm_walks

// ANCHOR: add_rmsnorm_held
extern "C" __global__ void add_rmsnorm_held(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* residual,
                                            __nv_bfloat16* out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    Held row, added;
    row.load(residual + blockIdx.x * columns, columns);
    added.load(x + blockIdx.x * columns, columns);
    row.combine([](float r, float v) { return r + v; }, added);  // rounded to bf16, as it is written
    row.write(residual + blockIdx.x * columns);
    const float sum = row.fold(0.0f, [](float sum, float v) { return sum + v * v; });
    const float factor = rsqrtf(reduce_row<THREADS>(sum, sums, Sum()) / columns + 1e-6f);
    row.apply([=](float v, float w) { return v * factor * w; }, weight);
    row.write(out + blockIdx.x * columns);
}
// ANCHOR_END: add_rmsnorm_held
