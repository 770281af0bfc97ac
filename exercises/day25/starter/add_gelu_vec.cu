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

// TODO(kernel): four elements at once, through float4: two loads of 16 bytes, one store of 16 bytes. Mind
//   - the last n % 4 elements, which fill no float4;
//   - views that begin anywhere: a float4 needs an address that is a multiple of 16.
extern "C" __global__ void add_gelu_vec(const float* a, const float* b, float* out, size_t n) {
}
// END TODO
