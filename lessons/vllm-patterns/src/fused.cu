// The fused kernels that stand around a transformer's matrix products. Elementwise kernels take any size; row kernels have
// a block of 256 threads for each row, and those that hold it in registers take rows of up to 4,096 bf16.
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
// Eight elements a thread, which are 16 bytes.
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
