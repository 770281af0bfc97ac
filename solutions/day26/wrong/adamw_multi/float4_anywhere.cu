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


__device__ void update(float& p, float g, float& m, float& v, float keep, float size, float beta1, float beta2,
                       float epsilon, float correction2) {
    m = beta1 * m + (1.0f - beta1) * g;
    v = beta2 * v + (1.0f - beta2) * g * g;
    p = p * keep - size * m / (sqrtf(v / correction2) + epsilon);
}

extern "C" __global__ void adamw_multi(const Tensor* tensors, const Chunk* chunks, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay,
                                       float correction1, float correction2) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const size_t begin = chunk.piece * CHUNK;
    const size_t end = min(begin + CHUNK, tensor.count);
    const float keep = 1.0f - lr * weight_decay, size = lr / correction1;
    const size_t whole = begin + (end - begin) / 4 * 4;

    for (size_t i = begin + 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) {
        const float4 g = *(const float4*)(tensor.g + i);
        float4 p = *(float4*)(tensor.p + i), m = *(float4*)(tensor.m + i), v = *(float4*)(tensor.v + i);
        update(p.x, g.x, m.x, v.x, keep, size, beta1, beta2, epsilon, correction2);
        update(p.y, g.y, m.y, v.y, keep, size, beta1, beta2, epsilon, correction2);
        update(p.z, g.z, m.z, v.z, keep, size, beta1, beta2, epsilon, correction2);
        update(p.w, g.w, m.w, v.w, keep, size, beta1, beta2, epsilon, correction2);
        *(float4*)(tensor.p + i) = p;
        *(float4*)(tensor.m + i) = m;
        *(float4*)(tensor.v + i) = v;
    }
    for (size_t i = whole + threadIdx.x; i < end; i += blockDim.x) {
        update(tensor.p[i], tensor.g[i], tensor.m[i], tensor.v[i], keep, size, beta1, beta2, epsilon, correction2);
    }
}
