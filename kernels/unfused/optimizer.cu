// The steps of AdamW, one launch for each over all tensors: as a framework's eager optimizer runs them, which keeps what is between
// two steps in memory. Two more are `scale` and `add_scalar`.
//
// Arguments are the buffers read, the buffers written, the scalars, and the number of elements. A step that works in place has
// the same buffer twice.

__device__ __forceinline__ size_t element() {
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

// Weight decay by itself, apart from the gradient.
extern "C" __global__ void decay(const float* p, float* out, float lr, float weight_decay, size_t n) {
    size_t i = element();
    if (i < n) out[i] = p[i] * (1.0f - lr * weight_decay);
}

// The mean of the gradients moves a little towards the new one.
extern "C" __global__ void lerp(const float* m, const float* g, float* out, float beta, size_t n) {
    size_t i = element();
    if (i < n) out[i] = m[i] + (1.0f - beta) * (g[i] - m[i]);
}

extern "C" __global__ void add_square(const float* v, const float* g, float* out, float beta, size_t n) {
    size_t i = element();
    if (i < n) out[i] = v[i] + (1.0f - beta) * g[i] * g[i];
}

extern "C" __global__ void root(const float* x, float* out, size_t n) {
    size_t i = element();
    if (i < n) out[i] = sqrtf(x[i]);
}

extern "C" __global__ void div_root(const float* x, float* out, float divisor, size_t n) {
    size_t i = element();
    if (i < n) out[i] = x[i] / sqrtf(divisor);
}

extern "C" __global__ void sub_quotient(const float* p, const float* m, const float* denominator, float* out, float lr,
                                        float correction, size_t n) {
    size_t i = element();
    if (i < n) out[i] = p[i] - lr / correction * (m[i] / denominator[i]);
}
