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

// TODO(kernel): one chunk per block.
//   - Find it: `chunks[blockIdx.x]` has the tensor's number, and `tensors[...]` its pointers.
//   - Its elements begin at chunk.piece * CHUNK, in 64 bits. They end CHUNK elements later, or where the tensor does.
//   - The block's threads take them in turns: i = begin + threadIdx.x, and on by blockDim.x.
//   - Per element, compute m and v first, then p with both new values. 1 - lr * weight_decay and lr / correction1 are the same for
//     all elements.
extern "C" __global__ void adamw_multi(const Tensor* tensors, const Chunk* chunks, float lr, float beta1,
                                       float beta2, float epsilon, float weight_decay,
                                       float correction1, float correction2) {
}
// END TODO
