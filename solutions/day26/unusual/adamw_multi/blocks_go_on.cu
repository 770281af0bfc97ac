// As many blocks as the GPU has room for, each of which goes on to further chunks.
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


extern "C" __global__ void adamw_multi(const Tensor* tensors, const Chunk* chunks, size_t count, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay,
                                       float correction1, float correction2) {
    const float keep = 1.0f - lr * weight_decay, size = lr / correction1;
    for (size_t at = blockIdx.x; at < count; at += gridDim.x) {
        const Chunk chunk = chunks[at];
        const Tensor tensor = tensors[chunk.tensor];
        const size_t begin = chunk.piece * CHUNK;
        const size_t end = min(begin + CHUNK, tensor.count);
        for (size_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
            const float g = tensor.g[i];
            const float m = beta1 * tensor.m[i] + (1.0f - beta1) * g;
            const float v = beta2 * tensor.v[i] + (1.0f - beta2) * g * g;
            tensor.p[i] = tensor.p[i] * keep - size * m / (sqrtf(v / correction2) + epsilon);
            tensor.m[i] = m;
            tensor.v[i] = v;
        }
    }
}
