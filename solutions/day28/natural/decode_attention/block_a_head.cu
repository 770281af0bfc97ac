// One launch, in which a block of 128 threads has a head of queries of a sequence, and goes over all of its tokens.
// It takes 128 tokens at a time: a thread has a token in the scores, and an element in the sums.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "reduce.cuh"

typedef __nv_bfloat16 bf16;

const int PAGE = 16;

extern "C" __global__ void decode_attention(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                                            const int* lengths, bf16* out, size_t q_heads, size_t kv_heads, size_t head_dim,
                                            size_t pages) {
    __shared__ float query[128], weights[128], maxima[2][32];
    const int thread = threadIdx.x;
    const size_t sequence = blockIdx.x / q_heads, head = blockIdx.x % q_heads / (q_heads / kv_heads);
    const int length = lengths[sequence];
    block_table += sequence * pages;
    if (thread < head_dim) query[thread] = __bfloat162float(q[blockIdx.x * head_dim + thread]);
    __syncthreads();
    float largest = -CUDART_INF_F, sum = 0.0f, result = 0.0f;
    for (int first = 0; first < length; first += 128) {
        float score = -CUDART_INF_F;
        if (first + thread < length) {
            const size_t page = block_table[(first + thread) / PAGE];
            const bf16* key = k_cache + ((page * kv_heads + head) * PAGE + thread % PAGE) * head_dim;
            score = 0.0f;
            for (int i = 0; i < head_dim; i++) score += query[i] * __bfloat162float(key[i]);
            score *= rsqrtf(head_dim);
        }
        const float before = largest;
        largest = fmaxf(largest, reduce_block(score, maxima[first / 128 % 2], -CUDART_INF_F, Max()));
        weights[thread] = expf(score - largest);
        __syncthreads();
        const float correction = expf(before - largest);
        sum *= correction;
        result *= correction;
        for (int i = 0; i < 128 && first + i < length; i++) {
            sum += weights[i];
            if (thread < head_dim) {
                const size_t page = block_table[(first + i) / PAGE];
                result += weights[i] * __bfloat162float(v_cache[((page * kv_heads + head) * PAGE + i % PAGE) * head_dim + thread]);
            }
        }
        __syncthreads();
    }
    if (thread < head_dim) out[blockIdx.x * head_dim + thread] = __float2bfloat16(result / sum);
}
