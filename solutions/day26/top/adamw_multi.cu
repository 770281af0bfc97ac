// adamw_multi: AdamW of all tensors of a model, in place, in one launch. All numbers are f32. For each element of each tensor
//     m = beta1 * m + (1 - beta1) * g
//     v = beta2 * v + (1 - beta2) * g * g
//     p = p * (1 - lr * weight_decay) - lr * (m / correction1) / (sqrt(v / correction2) + epsilon)
// with the new m and v. The host computes the corrections, 1 - beta1^step and 1 - beta2^step, once.
//
// `tensors` has an entry for each tensor: where its p, g, m and v begin, and how many elements it has. It may have none, and begins
// at any element of a larger buffer: at an address that is a multiple of 4 and perhaps of nothing else.
// `chunks` has an entry for each piece of at most 4,096 elements: the tensor's number, and which of its pieces it is, from 0 on.
//
// Unfused, this is eight launches over all tensors:            bytes per element
//     decay         p = p * (1 - lr * weight_decay)                    8
//     lerp          m = m + (1 - beta1) * (g - m)                     12
//     scale         v = v * beta2                                      8
//     add_square    v = v + (1 - beta2) * g * g                       12
//     root          denominator = sqrt(v)                              8
//     div_root      denominator = denominator / sqrt(correction2)      8
//     add_scalar    denominator = denominator + epsilon                8
//     sub_quotient  p = p - lr / correction1 * (m / denominator)      16
// 80 bytes per element. One kernel can do it with 28: read p, g, m and v, write p, m and v.
// A fused kernel that is launched once for each tensor moves no more, and must be beaten, too (kernels/rivals/scalar.cu).
//
// Grade it with: cargo xtask grade adamw_multi

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

// ANCHOR: kernel
__device__ __forceinline__ void update(float4& p, const float4& g, float4& m, float4& v, const Rates& r) {
    update(p.x, g.x, m.x, v.x, r);
    update(p.y, g.y, m.y, v.y, r);
    update(p.z, g.z, m.z, v.z, r);
    update(p.w, g.w, m.w, v.w, r);
}

// `count` elements of a type, EACH of them per thread at once: all their loads come before the first store, which the
// compiler does not do by itself, since for all that it knows the arrays overlap.
template <typename T, int EACH>
__device__ __forceinline__ void update_all(T* p, const T* g, T* m, T* v, int count, const Rates& r) {
    for (int first = threadIdx.x; first < count; first += EACH * THREADS) {
        T ps[EACH], gs[EACH], ms[EACH], vs[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int i = first + k * THREADS;
            if (i < count) ps[k] = p[i], gs[k] = g[i], ms[k] = m[i], vs[k] = v[i];
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int i = first + k * THREADS;
            if (i < count) {
                update(ps[k], gs[k], ms[k], vs[k], r);
                p[i] = ps[k], m[i] = ms[k], v[i] = vs[k];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    adamw_multi(const Tensor* tensors, const Chunk* chunks, float lr, float beta1, float beta2, float epsilon,
                float weight_decay, float correction1, float correction2) {
    const Chunk chunk = chunks[blockIdx.x];
    const size_t begin = chunk.piece * CHUNK;
    auto [p, g, m, v, all] = tensors[chunk.tensor];
    const Rates r = rates(lr, beta1, beta2, epsilon, weight_decay, correction1, correction2);

    const size_t at = (size_t)p;
    const bool alike = ((at ^ (size_t)g) | (at ^ (size_t)m) | (at ^ (size_t)v)) % 16 == 0;
    if (!alike) {
        return update_all<float, 4>(p + begin, g + begin, m + begin, v + begin, min(CHUNK, all - begin), r);
    }
    // Where all four lie equally far behind a multiple of 16 bytes, float4s suit them. All pieces are moved to where a line of 128
    // bytes of p begins: with float4s of a warp that lie across lines it took 6% longer. The first piece has what comes before, too.
    const size_t before = (128 - at % 128) % 128 / sizeof(float), first = min(begin + before, all);
    const int count = min(CHUNK, all - first), packs = count / 4;
    update_all<float4, 2>((float4*)(p + first), (const float4*)(g + first), (float4*)(m + first),
                          (float4*)(v + first), packs, r);
    if (threadIdx.x < count % 4) {
        const size_t i = first + 4 * packs + threadIdx.x;
        update(p[i], g[i], m[i], v[i], r);
    }
    if (chunk.piece == 0 && threadIdx.x < first) update(p[threadIdx.x], g[threadIdx.x], m[threadIdx.x], v[threadIdx.x], r);
}
// ANCHOR_END: kernel
