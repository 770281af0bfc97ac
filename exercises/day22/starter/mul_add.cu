// mul_add: out[i] = q[i] * k[i] + v[i], all f32.
//
// Unfused, this is two launches:          bytes per element
//     mul    product = q * k                  12
//     add    out = product + v                12
// 24 bytes per element. One kernel can do it with 16: read q, k and v, write out. At 1.5 this is
// the smallest gain of the day: most of the traffic is the operation's own.
//
// Grade it with: cargo xtask grade mul_add

// TODO(kernel): one multiply-add an element, guarded by i < n. Look at the parameters' order.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
}
// END TODO
