// add_gelu_vec: out[i] = gelu(a[i] + b[i]), all f32, with the tanh form of GELU, as on Day 22:
//     gelu(t) = 0.5 t (1 + tanh(sqrt(2/pi) (t + 0.044715 t^3)))       which "activation.cuh" has
//
// Unfused, this is two launches:          bytes per element
//     add    sum = a + b                      12
//     gelu   out = gelu(sum)                   8
// 20 bytes per element. One kernel can do it with 12, and so does the scalar fused kernel: one element a
// thread, 4 bytes an access (kernels/rivals/scalar.cu). This one must be faster than that, with 16 bytes an access.
//
// Grade it with: cargo xtask grade add_gelu_vec

#include "activation.cuh"

// ANCHOR: kernel
extern "C" __global__ void add_gelu_vec(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;

    // A float4 is one 16-byte access: a quarter of the instructions, and 512 bytes that a warp asks for at once. Its address
    // must be a multiple of 16, which a view into a larger buffer need not have.
    const bool aligned = ((size_t)a | (size_t)b | (size_t)out) % 16 == 0;
    const size_t vectors = aligned ? n / 4 : 0;
    for (size_t v = thread; v < vectors; v += threads) {
        const float4 left = ((const float4*)a)[v];
        const float4 right = ((const float4*)b)[v];
        ((float4*)out)[v] = make_float4(gelu_fast(left.x + right.x), gelu_fast(left.y + right.y),
                                        gelu_fast(left.z + right.z), gelu_fast(left.w + right.w));
    }

    // The tail: at most three elements that fill no float4, or all of them where an address is not aligned.
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = gelu_fast(a[i] + b[i]);
    }
}
// ANCHOR_END: kernel
