// wrong: unwritten: computes everything and stores nothing: what is in the output was there before.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    volatile float result = q[i] * k[i] + v[i];
    (void)result;
}
