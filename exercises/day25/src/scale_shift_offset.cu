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

// TODO(kernel): three parts.
//   - The head: the elements before the first address that is a multiple of 16, at most three, one at a time. A view may be shorter
//     than its head. (Which longer head makes a warp's float4s fill whole lines of 128 bytes?)
//   - The body: whole float4s.
//   - The tail: what fills no float4.
// A pointer as a number is `(size_t)x`. x and out may be off by different numbers of elements; then no part of them suits a float4 in
// both, and single elements are right. (What else could be done there?)
extern "C" __global__ void scale_shift_offset(const float* x, float* out, float scale, float shift, size_t n) {
}
// END TODO
