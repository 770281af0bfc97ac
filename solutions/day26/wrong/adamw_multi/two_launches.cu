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


extern "C" __global__ void moments(const Tensor* tensors, const Chunk* chunks, float beta1, float beta2) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const size_t begin = chunk.piece * CHUNK;
    const size_t end = min(begin + CHUNK, tensor.count);
    for (size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const float g = tensor.g[i];
        tensor.m[i] = beta1 * tensor.m[i] + (1.0f - beta1) * g;
        tensor.v[i] = beta2 * tensor.v[i] + (1.0f - beta2) * g * g;
    }
}

extern "C" __global__ void parameters(const Tensor* tensors, const Chunk* chunks, float lr, float epsilon,
                                      float weight_decay, float correction1, float correction2) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const size_t begin = chunk.piece * CHUNK;
    const size_t end = min(begin + CHUNK, tensor.count);
    for (size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const float denominator = sqrtf(tensor.v[i] / correction2) + epsilon;
        tensor.p[i] = tensor.p[i] * (1.0f - lr * weight_decay) - lr / correction1 * tensor.m[i] / denominator;
    }
}
