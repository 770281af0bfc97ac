// Chains of one instruction: with one warp per scheduler its latency, with many its rate.
// calibration
// sweep: steps = 64; block = 32 128 256 512 1024
// launch: chain_fma<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_add<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_max<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_iadd<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
// launch: chain_imul<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
// launch: chain_logic<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
// launch: chain_shift<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
// launch: chain_wide<<<132, {block}>>>(y: i64[1] uninit, a: i64 = 7, steps: i32 = {steps})
// launch: chain_wide_mul<<<132, {block}>>>(y: i64[1] uninit, a: i64 = 7, steps: i32 = {steps})
// launch: chain_convert<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_round<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_divide<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_root<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_rsqrt<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_exp<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_exp2_approximate<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_log<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_tanh<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_erf<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_sine<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_fma_double<<<132, {block}>>>(y: f64[1] uninit, a: f64 = 0.9, steps: i32 = {steps})
// launch: chain_divide_double<<<132, {block}>>>(y: f64[1] uninit, a: f64 = 0.9, steps: i32 = {steps})
// launch: chain_fma_half<<<132, {block}>>>(y: f16[2] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: chain_divide_int<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
// launch: chain_popc<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
// launch: four_chains_fma<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: four_chains_exp<<<132, {block}>>>(y: f32[1] uninit, a: f32 = 0.9, steps: i32 = {steps})
// launch: four_chains_iadd<<<132, {block}>>>(y: i32[1] uninit, a: i32 = 7, steps: i32 = {steps})
#include <cuda_fp16.h>

// Sixteen in a row, so that the loop itself counts little.
#define CHAIN(NAME, T, START, EXPRESSION)                              \
    extern "C" __global__ void NAME(T* y, T a, int steps) {            \
        T v = START;                                                   \
        for (int k = 0; k < steps; k++) {                              \
            _Pragma("unroll") for (int u = 0; u < 16; u++) v = EXPRESSION; \
        }                                                              \
        if (v == (T)12345) *y = v;                                     \
    }
#define FOUR(NAME, T, START, EXPRESSION)                                                            \
    extern "C" __global__ void NAME(T* y, T a, int steps) {                                         \
        T chain[4] = {START, START + 1, START + 2, START + 3};                                      \
        for (int k = 0; k < steps; k++) {                                                           \
            _Pragma("unroll") for (int u = 0; u < 16; u++) {                                        \
                _Pragma("unroll") for (int c = 0; c < 4; c++) { T v = chain[c]; chain[c] = EXPRESSION; } \
            }                                                                                       \
        }                                                                                           \
        if (chain[0] + chain[1] + chain[2] + chain[3] == (T)12345) *y = a;                          \
    }
CHAIN(chain_fma, float, threadIdx.x, v * a + a)
CHAIN(chain_add, float, threadIdx.x, v + a)
CHAIN(chain_max, float, threadIdx.x, fmaxf(v, a) + a)
CHAIN(chain_iadd, int, threadIdx.x, (v + a) ^ u)
CHAIN(chain_imul, int, threadIdx.x, v * a + u)
CHAIN(chain_logic, int, threadIdx.x, ((v & a) | u) ^ 21)
CHAIN(chain_shift, int, threadIdx.x, (v << (a & 3)) ^ u)
CHAIN(chain_wide, long long, threadIdx.x, (v + a) ^ u)
CHAIN(chain_wide_mul, long long, threadIdx.x, v * a + u)
CHAIN(chain_convert, float, threadIdx.x, (float)((int)v + u))
CHAIN(chain_round, float, threadIdx.x, rintf(v) + a)
CHAIN(chain_divide, float, threadIdx.x + 1, a / (v + 1.0f))
CHAIN(chain_root, float, threadIdx.x, sqrtf(v + a))
CHAIN(chain_rsqrt, float, threadIdx.x, rsqrtf(v + a))
CHAIN(chain_exp, float, 0.01f * threadIdx.x, expf(v * -a))
CHAIN(chain_exp2_approximate, float, 0.01f * threadIdx.x, __expf(v * -a))
CHAIN(chain_log, float, threadIdx.x + 2, logf(v + 3.0f))
CHAIN(chain_tanh, float, 0.01f * threadIdx.x, tanhf(v + a))
CHAIN(chain_erf, float, 0.01f * threadIdx.x, erff(v + a))
CHAIN(chain_sine, float, 0.01f * threadIdx.x, sinf(v + a))
CHAIN(chain_fma_double, double, threadIdx.x, v * a + a)
CHAIN(chain_divide_double, double, threadIdx.x + 1, a / (v + 1.0))
CHAIN(chain_divide_int, int, threadIdx.x + 100000, (v / a) + 1000000)
CHAIN(chain_popc, int, threadIdx.x, __popc(v) + a)
FOUR(four_chains_fma, float, threadIdx.x, v * a + a)
FOUR(four_chains_exp, float, 0.01f * threadIdx.x, __expf(v * -a))
FOUR(four_chains_iadd, int, threadIdx.x, (v + a) ^ u)

extern "C" __global__ void chain_fma_half(__half2* y, float a, int steps) {
    __half2 v = __float2half2_rn(threadIdx.x), b = __float2half2_rn(a);
    for (int k = 0; k < steps; k++) {
#pragma unroll
        for (int u = 0; u < 16; u++) v = __hfma2(v, b, b);
    }
    if (__low2float(v) == 12345.0f) *y = v;
}
