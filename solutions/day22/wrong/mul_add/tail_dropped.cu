// wrong: tail: whole float4s only: the last n % 4 elements are never written.
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = thread; i < n / 4; i += threads) {
        float4 a = ((const float4*)q)[i], b = ((const float4*)k)[i], c = ((const float4*)v)[i];
        ((float4*)out)[i] = make_float4(a.x * b.x + c.x, a.y * b.y + c.y, a.z * b.z + c.z, a.w * b.w + c.w);
    }
}
