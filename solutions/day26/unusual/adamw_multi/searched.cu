// No table of chunks: a block finds its tensor by walking along the table of tensors, and counts the chunks itself.
struct Tensor {
    float* p;
    const float* g;
    float* m;
    float* v;
    size_t count;
};

constexpr size_t CHUNK = 4096;


extern "C" __global__ void adamw_multi(const Tensor* tensors, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay,
                                       float correction1, float correction2) {
    size_t piece = blockIdx.x;
    for (size_t chunks; piece >= (chunks = (tensors->count + CHUNK - 1) / CHUNK); tensors++) piece -= chunks;
    const Tensor tensor = *tensors;
    const size_t begin = piece * CHUNK;
    const size_t end = min(begin + CHUNK, tensor.count);
    for (size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const float g = tensor.g[i];
        const float m = tensor.m[i] + (1.0f - beta1) * (g - tensor.m[i]);
        const float v = tensor.v[i] + (1.0f - beta2) * (g * g - tensor.v[i]);
        const float root = sqrtf(v) * rsqrtf(correction2);
        tensor.p[i] = tensor.p[i] - lr * (weight_decay * tensor.p[i] + m / correction1 / (root + epsilon));
        tensor.m[i] = m;
        tensor.v[i] = v;
    }
}
