// A block for each tensor, which walks over all of it; the table of chunks is not looked at.
struct Tensor {
    float* p;
    const float* g;
    float* m;
    float* v;
    unsigned long long count;
};

extern "C" __global__ void adamw_multi(const Tensor* tensors, float lr, float beta1, float beta2, float epsilon,
                                       float weight_decay, float correction1, float correction2) {
    Tensor tensor = tensors[blockIdx.x];
    for (size_t i = threadIdx.x; i < tensor.count; i += blockDim.x) {
        const float g = tensor.g[i];
        const float m = beta1 * tensor.m[i] + (1.0f - beta1) * g;
        const float v = beta2 * tensor.v[i] + (1.0f - beta2) * g * g;
        tensor.m[i] = m;
        tensor.v[i] = v;
        tensor.p[i] -= lr * weight_decay * tensor.p[i] + lr * (m / correction1) / (sqrtf(v / correction2) + epsilon);
    }
}
