// One new token that attends to a paged cache, in one launch: without parts. The solution of decode_attention has the parts.
//
// What the arguments are, kernels/unfused/decode.cu says. A block has 256 threads.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int PAGE = 16;  // Tokens of a page.
const int PART = 256; // Tokens whose scores are in shared memory at a time.

template <int HEAD, int HEADS>
struct Shared {
    int pages[PART / PAGE];
    float weights[HEADS][PART];
    float partial[THREADS / 32][HEADS][HEAD];
    float corrections[HEADS], sums[HEADS];
};

// ANCHOR: load
// Eight elements of token `token` of a part, which has these pages.
template <int HEAD>
__device__ __forceinline__ Pack<bf16> load_row(const int* pages, const bf16* cache, size_t kv_heads,
                                               size_t head, int token, int pack) {
    const size_t page = pages[token / PAGE];
    return load_pack(cache, ((page * kv_heads + head) * PAGE + token % PAGE) * (HEAD / 8) + pack);
}
// ANCHOR_END: load

// The results of `heads` heads of queries of one sequence, at most HEADS, which have head `head` of the keys.
template <int HEAD, int HEADS>
__device__ void attend(Shared<HEAD, HEADS>& shared, const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                       int length, bf16* out, size_t kv_heads, size_t head, int heads) {
    const int LANES = HEAD / 8, ROWS = THREADS / LANES, LOADS = 4;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pack = threadIdx.x % LANES, row = threadIdx.x / LANES;
    float query[HEADS][8], result[HEADS][8] = {};
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        const Pack<bf16> of_head = load_pack(q, (i < heads ? i : 0) * LANES + pack);
#pragma unroll
        for (int j = 0; j < 8; j++) query[i][j] = to_float(of_head.at[j]);
    }
    const float scale = 1.44269504f * rsqrtf(HEAD);
    // Of the head that this warp has the softmax of.
    float largest = -CUDART_INF_F, sum = 0.0f;
    for (int begin = 0; begin < length; begin += PART) {
        const int tokens = min(length - begin, PART);
        if (threadIdx.x < (tokens + PAGE - 1) / PAGE) shared.pages[threadIdx.x] = block_table[begin / PAGE + threadIdx.x];
        __syncthreads();
        for (int first = 0; first < tokens; first += ROWS * LOADS) {
            Pack<bf16> keys[LOADS];
#pragma unroll
            for (int i = 0; i < LOADS; i++) {
                const int token = first + i * ROWS + row;
                keys[i].bits = make_uint4(0, 0, 0, 0);
                if (token < tokens) keys[i] = load_row<HEAD>(shared.pages, k_cache, kv_heads, head, token, pack);
            }
#pragma unroll
            for (int i = 0; i < LOADS; i++) {
                const int token = first + i * ROWS + row;
#pragma unroll
                for (int h = 0; h < HEADS; h++) {
                    float score = 0.0f;
#pragma unroll
                    for (int j = 0; j < 8; j++) score += query[h][j] * to_float(keys[i].at[j]);
                    score = reduce_lanes<LANES>(score, Sum());
                    if (pack == 0) shared.weights[h][token] = token < tokens ? score * scale : -CUDART_INF_F;
                }
            }
        }
        __syncthreads();
        if (warp < heads) {
            const float before = largest;
            for (int token = lane; token < tokens; token += 32) largest = fmaxf(largest, shared.weights[warp][token]);
            largest = reduce_lanes<32>(largest, Max());
            float more = 0.0f;
            for (int token = lane; token < tokens; token += 32) {
                const float weight = exp2f(shared.weights[warp][token] - largest);
                shared.weights[warp][token] = weight;
                more += weight;
            }
            const float correction = exp2f(before - largest);
            sum = sum * correction + reduce_lanes<32>(more, Sum());
            if (lane == 0) shared.corrections[warp] = correction;
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            const float correction = h < heads ? shared.corrections[h] : 0.0f;
#pragma unroll
            for (int j = 0; j < 8; j++) result[h][j] *= correction;
        }
        for (int first = 0; first < tokens; first += ROWS * LOADS) {
            Pack<bf16> values[LOADS];
#pragma unroll
            for (int i = 0; i < LOADS; i++) {
                const int token = first + i * ROWS + row;
                values[i].bits = make_uint4(0, 0, 0, 0);
                if (token < tokens) values[i] = load_row<HEAD>(shared.pages, v_cache, kv_heads, head, token, pack);
            }
#pragma unroll
            for (int i = 0; i < LOADS; i++) {
                const int token = first + i * ROWS + row;
#pragma unroll
                for (int h = 0; h < HEADS; h++) {
                    const float weight = token < tokens && h < heads ? shared.weights[h][token] : 0.0f;
#pragma unroll
                    for (int j = 0; j < 8; j++) result[h][j] += weight * to_float(values[i].at[j]);
                }
            }
        }
        __syncthreads();
    }
    if (warp < heads && lane == 0) shared.sums[warp] = sum;
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int distance = 16; distance >= LANES; distance /= 2) {
                result[h][j] += __shfl_xor_sync(0xffffffffu, result[h][j], distance);
            }
            if (lane < LANES) shared.partial[warp][h][8 * pack + j] = result[h][j];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < heads * HEAD; i += THREADS) {
        float total = 0.0f;
#pragma unroll
        for (int j = 0; j < THREADS / 32; j++) total += shared.partial[j][i / HEAD][i % HEAD];
        out[i] = __float2bfloat16(total / shared.sums[i / HEAD]);
    }
    __syncthreads();
}

// All heads of queries that follow each other from `first` on, so many of them, HEADS at a time.
template <int HEAD, int HEADS>
__device__ void attend_all(char* memory, const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                           const int* lengths, bf16* out, size_t first, size_t count, size_t q_heads, size_t kv_heads, size_t pages) {
    const size_t sequence = first / q_heads, head = first % q_heads / (q_heads / kv_heads);
    for (size_t done = 0; done < count; done += HEADS) {
        attend<HEAD, HEADS>(*(Shared<HEAD, HEADS>*)memory, q + (first + done) * HEAD, k_cache, v_cache, block_table + sequence * pages,
                            lengths[sequence], out + (first + done) * HEAD, kv_heads, head, count - done < HEADS ? count - done : HEADS);
    }
}

// ANCHOR: head
// A block has one head of queries, and reads all of its keys and values: so do its neighbours, which share them.
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_attention_head(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                          const int* lengths, bf16* out, size_t sequences, size_t q_heads, size_t kv_heads,
                          size_t head_dim, size_t pages) {
    __shared__ __align__(16) char memory[sizeof(Shared<128, 1>)];
    const size_t row = blockIdx.x;
    if (head_dim == 64) {
        attend_all<64, 1>(memory, q, k_cache, v_cache, block_table, lengths, out, row, 1, q_heads, kv_heads, pages);
    } else {
        attend_all<128, 1>(memory, q, k_cache, v_cache, block_table, lengths, out, row, 1, q_heads, kv_heads, pages);
    }
}
// ANCHOR_END: head

// ANCHOR: group
// A block has one head of keys, and all heads of queries that share it: what is loaded once serves all of them.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    decode_attention_group(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                           const int* lengths, bf16* out, size_t sequences, size_t q_heads, size_t kv_heads,
                           size_t head_dim, size_t pages) {
    __shared__ __align__(16) char memory[sizeof(Shared<128, 4>)];
    const size_t group = q_heads / kv_heads, row = blockIdx.x * group;
    if (head_dim == 64) {
        attend_all<64, 4>(memory, q, k_cache, v_cache, block_table, lengths, out, row, group, q_heads, kv_heads, pages);
    } else {
        attend_all<128, 4>(memory, q, k_cache, v_cache, block_table, lengths, out, row, group, q_heads, kv_heads, pages);
    }
}
// ANCHOR_END: group
