// One parameter: a struct, by value, with pointers and the size.
struct Problem {
    const float* x;
    const float* y;
    float* out;
    size_t n;
};

extern "C" __global__ void add_mul_exp(const __grid_constant__ Problem problem) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= problem.n) return;
    problem.out[i] = expf(2.0f * (problem.x[i] + problem.y[i]));
}
