// add_mul_exp: out[i] = exp((x[i] + y[i]) * 2), all f32. Overflow to infinity and underflow to
// zero are right answers.
//
// Unfused, this is three launches:        bytes per element
//     add          sum = x + y                12
//     scale        doubled = sum * 2           8
//     exponential  out = exp(doubled)          8
// 28 bytes per element. One kernel can do it with 12: read x and y, write out.
//
// Grade it with: cargo xtask grade add_mul_exp

// ANCHOR: one
__device__ float add_mul_exp_one(float x, float y) {
    return expf((x + y) * 2.0f);
}
// ANCHOR_END: one

// ANCHOR: kernel
extern "C" __global__ void add_mul_exp(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;

    // Four elements at once: a float4 is one 16-byte access, and needs an address that is a multiple of 16.
    const bool aligned = ((size_t)x | (size_t)y | (size_t)out) % 16 == 0;
    const size_t vectors = aligned ? n / 4 : 0;
    for (size_t v = thread; v < vectors; v += threads) {
        const float4 x4 = ((const float4*)x)[v];
        const float4 y4 = ((const float4*)y)[v];
        ((float4*)out)[v] = make_float4(add_mul_exp_one(x4.x, y4.x), add_mul_exp_one(x4.y, y4.y),
                                        add_mul_exp_one(x4.z, y4.z), add_mul_exp_one(x4.w, y4.w));
    }

    // Elements that fill no float4: at most three, or all of them where an address is not aligned.
    for (size_t i = 4 * vectors + thread; i < n; i += threads) {
        out[i] = add_mul_exp_one(x[i], y[i]);
    }
}
// ANCHOR_END: kernel
