// AdamW of many tensors, one block for each chunk, from plain to many loads in flight. The top is in solutions/day26/top.

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


constexpr int THREADS = 256;

// What is the same for all elements.
struct Rates {
    float beta1, beta2, epsilon, keep, size, factor;
};

__device__ __forceinline__ Rates rates(float lr, float beta1, float beta2, float epsilon, float weight_decay,
                                       float correction1, float correction2) {
    return {beta1, beta2, epsilon, 1.0f - lr * weight_decay, lr / correction1, 1.0f / sqrtf(correction2)};
}

__device__ __forceinline__ void update(float& p, float g, float& m, float& v, const Rates& r) {
    m = r.beta1 * m + (1.0f - r.beta1) * g;
    v = r.beta2 * v + (1.0f - r.beta2) * g * g;
    p = p * r.keep - r.size * __fdividef(m, sqrtf(v) * r.factor + r.epsilon);
}

// ANCHOR: chunk
extern "C" __global__ void adamw_chunk(const Tensor* tensors, const Chunk* chunks, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay, float correction1,
                                       float correction2) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const size_t begin = chunk.piece * CHUNK;
    const size_t end = min(begin + CHUNK, tensor.count);
    const Rates r = rates(lr, beta1, beta2, epsilon, weight_decay, correction1, correction2);
    for (size_t i = begin + threadIdx.x; i < end; i += THREADS) {
        float p = tensor.p[i], m = tensor.m[i], v = tensor.v[i];
        update(p, tensor.g[i], m, v, r);
        tensor.p[i] = p, tensor.m[i] = m, tensor.v[i] = v;
    }
}
// ANCHOR_END: chunk

// ANCHOR: four
// Four elements per thread: all sixteen loads come before the first store.
extern "C" __global__ void adamw_four(const Tensor* tensors, const Chunk* chunks, float lr, float beta1,
                                      float beta2, float epsilon, float weight_decay, float correction1,
                                      float correction2) {
    const Chunk chunk = chunks[blockIdx.x];
    const Tensor tensor = tensors[chunk.tensor];
    const size_t begin = chunk.piece * CHUNK;
    const size_t end = min(begin + CHUNK, tensor.count);
    const Rates r = rates(lr, beta1, beta2, epsilon, weight_decay, correction1, correction2);
    for (size_t first = begin + threadIdx.x; first < end; first += 4 * THREADS) {
        float p[4], g[4], m[4], v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const size_t i = first + k * THREADS;
            if (i < end) p[k] = tensor.p[i], g[k] = tensor.g[i], m[k] = tensor.m[i], v[k] = tensor.v[i];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const size_t i = first + k * THREADS;
            if (i >= end) break;
            update(p[k], g[k], m[k], v[k], r);
            tensor.p[i] = p[k], tensor.m[i] = m[k], tensor.v[i] = v[k];
        }
    }
}
// ANCHOR_END: four
