// Namespaces, templates, overloads, pointers to pointers.
// play: x = f32[8] ramp
// play: y = f32[8], print all
// play: d = f64[8] ramp
// play: e = f64[8], print all
// play: rows = u64[8] zero
// play: z = f32[8], print all
// play: scale<float, 4><<<1, 8>>>(x, y)
// play: scale<<<1, 8>>>(d, e)
// play: a::empty<<<1, 8>>>(rows, z)
template <typename T, int N> __global__ void scale(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x] * N; }
template __global__ void scale<float, 4>(const float*, float*);
template __global__ void scale<float, 3>(const float*, float*);
template __global__ void scale<double, 2>(const double*, double*);
namespace a {
__global__ void empty(float** rows, float* z) { z[threadIdx.x] = rows[threadIdx.x] == nullptr; }
}
