// wrong: unwritten: every block computes the first elements, and nobody the others.
extern "C" __global__ void add_mul_relu(const float* a, const float* b, float* out, size_t n) {
    size_t i = threadIdx.x;
    if (i < n) out[i] = fmaxf((a[i] + b[i]) * a[i], 0.0f);
}
