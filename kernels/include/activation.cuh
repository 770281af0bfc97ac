// Activation functions, shared by the baseline and by whoever includes this header.
#pragma once

// ANCHOR: gelu
// The tanh form of GELU: 0.5 t (1 + tanh(sqrt(2/pi) (t + 0.044715 t^3))).
// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415.
__device__ __forceinline__ float gelu_tanh(float t) {
    const float sqrt_2_over_pi = 0.7978845608f;
    return 0.5f * t * (1.0f + tanhf(sqrt_2_over_pi * (t + 0.044715f * t * t * t)));
}
// ANCHOR_END: gelu

// ANCHOR: fast
// The same function with one exponential: (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)). tanhf costs
// about thirty instructions, too many for a kernel that moves eight bytes per element.
__device__ __forceinline__ float gelu_fast(float t) {
    const float two_sqrt_2_over_pi = 1.5957691216f;
    return __fdividef(t, 1.0f + __expf(-two_sqrt_2_over_pi * (t + 0.044715f * t * t * t)));
}

// SiLU, or swish: t / (1 + exp(-t)). Source: Elfwing, Uchibe and Doya, arXiv:1702.03118.
__device__ __forceinline__ float silu(float t) {
    return __fdividef(t, 1.0f + __expf(-t));
}
// ANCHOR_END: fast
