// scale_shift_offset: out[i] = x[i] * scale + shift, all f32. x and out are views into larger buffers, and begin at any of their
// elements: at addresses that are multiples of 4 and perhaps of nothing else.
//
// Unfused, this is two launches:                  bytes per element
//     scale        scaled = x * scale                    8
//     add_scalar   out = scaled + shift                  8
// 16 bytes per element. One kernel can do it with 8, and so does the scalar fused kernel: one element per thread, 4 bytes per
// access (kernels/rivals/scalar.cu). This one must be faster than that, with 16 bytes per access wherever the two views
// allow it.
//
// Grade it with: cargo xtask grade scale_shift_offset

// ANCHOR: kernel
extern "C" __global__ void scale_shift_offset(const float* __restrict__ x, float* __restrict__ out,
                                              float scale, float shift, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t threads = (size_t)gridDim.x * blockDim.x;

    // The head: elements before the first one at a multiple of 128 bytes, a line, so that a warp writes whole lines after it.
    // Only where x and out lie equally far behind a multiple of 16, float4s suit both; otherwise everything is head.
    const bool alike = ((size_t)x - (size_t)out) % 16 == 0;
    const size_t before = (128 - (size_t)out % 128) % 128 / sizeof(float);
    const size_t head = alike && before < n ? before : n;
    for (size_t i = thread; i < head; i += threads) out[i] = x[i] * scale + shift;

    // The body: whole float4s of what is left, which begins where a line of out begins.
    x += head;
    out += head;
    const size_t rest = n - head, vectors = rest / 4;
    for (size_t v = thread; v < vectors; v += threads) {
        const float4 in = ((const float4*)x)[v];
        ((float4*)out)[v] = make_float4(in.x * scale + shift, in.y * scale + shift,
                                        in.z * scale + shift, in.w * scale + shift);
    }

    // The tail: at most three elements.
    for (size_t i = 4 * vectors + thread; i < rest; i += threads) out[i] = x[i] * scale + shift;
}
// ANCHOR_END: kernel
