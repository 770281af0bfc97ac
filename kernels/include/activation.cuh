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
