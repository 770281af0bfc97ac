// A block of 256 per row: pairs of a maximum and a sum, joined in a tree in shared memory.
#include <math_constants.h>

__device__ void join(float& m, float& s, float other_m, float other_s) {
    float larger = fmaxf(m, other_m);
    if (larger == -CUDART_INF_F) return;
    s = s * expf(m - larger) + other_s * expf(other_m - larger);
    m = larger;
}

extern "C" __global__ void cross_entropy(const float* x, const int* labels, float* loss, size_t rows, size_t columns) {
    __shared__ float ms[256], ss[256];
    int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float m = -CUDART_INF_F, s = 0.0f;
    for (size_t c = t; c < columns; c += 256) join(m, s, row[c], 1.0f);
    ms[t] = m;
    ss[t] = s;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) join(ms[t], ss[t], ms[t + half], ss[t + half]);
        __syncthreads();
    }
    if (t == 0) {
        int label = labels[blockIdx.x];
        loss[blockIdx.x] = label == -100 ? 0.0f : logf(ss[0]) + (ms[0] - row[label]);
    }
}
