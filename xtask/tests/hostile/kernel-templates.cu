// refused: compile
// Templates without an end.
template <int N> struct Deep { static constexpr int value = Deep<N + 1>::value + Deep<N + 2>::value; };
__device__ int deep = Deep<0>::value;
extern "C" __global__ void mul_add(const float* q, const float* k, const float* v, float* out, size_t n) {
    const size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = thread; i < n; i += (size_t)gridDim.x * blockDim.x) {
        out[i] = q[i] * k[i] + v[i];
    }
}
