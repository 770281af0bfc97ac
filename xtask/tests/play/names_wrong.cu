// A name that may mean several kernels, a template that nothing instantiates, a struct by value.
// play: x = f32[8] ramp
// play: y = f32[8]
// play: scale<<<1, 8>>>(x, y)
// play: scale<float, 5><<<1, 8>>>(x, y)
// play: lone<float><<<1, 8>>>(y)
// play: by_value<<<1, 8>>>(2, y)
template <typename T, int N> __global__ void scale(const T* x, T* y) { y[threadIdx.x] = x[threadIdx.x] * N; }
template __global__ void scale<float, 4>(const float*, float*);
template __global__ void scale<float, 3>(const float*, float*);
template <class T> __global__ void lone(T* y) { y[threadIdx.x] = 1; }
struct Pair {
    float a;
    int b;
};
__global__ void by_value(Pair p, float* y) { y[threadIdx.x] = p.a; }
