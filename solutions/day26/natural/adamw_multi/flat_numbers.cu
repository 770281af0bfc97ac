// The table as the numbers that it is made of, each cast to a pointer.
extern "C" __global__ void adamw_multi(const unsigned long long* tensors, const int* chunks, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay, float correction1,
                                       float correction2) {
    const unsigned long long* entry = tensors + 5 * chunks[2 * blockIdx.x];
    float* p = (float*)entry[0];
    const float* g = (const float*)entry[1];
    float* m = (float*)entry[2];
    float* v = (float*)entry[3];
    long long count = entry[4];
    long long first = chunks[2 * blockIdx.x + 1] * 4096LL;
    for (long long i = first + threadIdx.x; i < count && i < first + 4096; i += blockDim.x) {
        m[i] += (1 - beta1) * (g[i] - m[i]);
        v[i] += (1 - beta2) * (g[i] * g[i] - v[i]);
        p[i] = p[i] * (1 - lr * weight_decay) - lr / correction1 * m[i] / (sqrtf(v[i]) / sqrtf(correction2) + epsilon);
    }
}
