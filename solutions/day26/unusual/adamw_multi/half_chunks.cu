// Two blocks for each chunk: the first half of it is one's, the second half the other's.
struct Tensor {
    float* p;
    const float* g;
    float* m;
    float* v;
    size_t count;
};

// The number of a tensor, and which of its pieces of CHUNK elements.
struct Chunk {
    int tensor;
    int piece;
};

constexpr size_t CHUNK = 4096;


extern "C" __global__ void adamw_multi(const Tensor* tensors, const Chunk* chunks, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay,
                                       float correction1, float correction2) {
    const Chunk chunk = chunks[blockIdx.x / 2];
    const Tensor tensor = tensors[chunk.tensor];
    const size_t begin = chunk.piece * CHUNK + blockIdx.x % 2 * (CHUNK / 2);
    const size_t end = min(begin + CHUNK / 2, tensor.count);
    const float scale = rsqrtf(correction2);
    for (size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const float g = tensor.g[i];
        const float m = tensor.m[i] + (1.0f - beta1) * (g - tensor.m[i]);
        const float v = tensor.v[i] + (1.0f - beta2) * (g * g - tensor.v[i]);
        tensor.p[i] -= lr * (weight_decay * tensor.p[i] + m / correction1 / (sqrtf(v) * scale + epsilon));
        tensor.m[i] = m;
        tensor.v[i] = v;
    }
}
