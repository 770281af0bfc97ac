// A template, whose instance the launch asks for by the name that the compiler gave it.
template <int ELEMENTS, typename T>
__global__ void add_mul_relu(const T* a, const T* b, T* out, size_t n) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * ELEMENTS + threadIdx.x;
    for (int j = 0; j < ELEMENTS; j++) {
        const size_t i = first + (size_t)j * blockDim.x;
        if (i < n) out[i] = fmaxf((a[i] + b[i]) * a[i], T(0));
    }
}

template __global__ void add_mul_relu<4, float>(const float*, const float*, float*, size_t);
