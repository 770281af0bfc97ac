// Keys and values go straight into registers, 16 loads of 16 bytes per lane and page, and the terms of both products have an order that suits them.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 128;
const int PART = 256; // Tokens of a part.
const int PAGE = 16;  // Tokens of a page.
const int HEADS = 16; // Heads of queries that are done together: the rows of a fragment.

// What each warp of a block has found out, relative to its own largest score.
template <int HEAD>
struct Shared {
    float largest[THREADS / 32][HEADS], sum[THREADS / 32][HEADS], result[THREADS / 32][HEADS][HEAD];
};

// Eight elements of row `row`, number `pack` of them; zeros where there are no more than `rows` rows.
template <int HEAD>
__device__ __forceinline__ uint4 load_row(const bf16* from, int row, int rows, int pack) {
    return row < rows ? ((const uint4*)from)[row * (HEAD / 8) + pack] : make_uint4(0, 0, 0, 0);
}

// Two neighbouring elements of a fragment.
__device__ __forceinline__ unsigned pair_of(float one, float two) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&both;
}

// Element `i` of each of two packs: two neighbours of a column.
__device__ __forceinline__ unsigned column_of(const uint4& one, const uint4& two, int i) {
    return __byte_perm(((const unsigned*)&one)[i / 2], ((const unsigned*)&two)[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}

// The part's results for `heads` heads of queries, at most HEADS. q, partial and sums begin where the first of them has its own; the next
// head has its results `parts` rows later. `table` has the numbers of the part's pages, and `tokens` says how many tokens there are, at most PART.
template <int HEAD>
__device__ void attend(Shared<HEAD>& shared, const bf16* __restrict__ q, const bf16* __restrict__ k_cache,
                       const bf16* __restrict__ v_cache, const int* __restrict__ table, float* __restrict__ partial,
                       float* __restrict__ sums, size_t kv_heads, size_t head, int heads, size_t parts, int tokens) {
    const int WARPS = THREADS / 32, PAGES = PART / PAGE / WARPS; // A warp has so many pages.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = lane / 4, quarter = lane % 4;
    // exp(x / sqrt(HEAD)) is 2 to the power of x times this.
    const float scale = 1.44269504f * rsqrtf(HEAD);

    // A product is a sum, in whatever order. So a lane has eight elements that follow each other, where the fragments of two steps have four each.
    unsigned queries[HEAD / 16][4];
#pragma unroll
    for (int i = 0; i < HEAD / 32; i++) {
        const uint4 upper = load_row<HEAD>(q, row, heads, 4 * i + quarter);
        const uint4 lower = load_row<HEAD>(q, row + 8, heads, 4 * i + quarter);
        queries[2 * i][0] = upper.x, queries[2 * i][1] = lower.x, queries[2 * i][2] = upper.y, queries[2 * i][3] = lower.y;
        queries[2 * i + 1][0] = upper.z, queries[2 * i + 1][1] = lower.z, queries[2 * i + 1][2] = upper.w, queries[2 * i + 1][3] = lower.w;
    }
    // All page numbers before the first page: a load from the cache waits for its own alone. Where the sequence has no page, the table has -1,
    // or ends.
    int numbers[PAGES];
#pragma unroll
    for (int i = 0; i < PAGES; i++) numbers[i] = (warp + i * WARPS) * PAGE < tokens ? table[warp + i * WARPS] : 0;

    // Lane l has two heads of queries, l / 4 and l / 4 + 8.
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {}, result[HEAD / 8][4] = {};
#pragma unroll
    for (int i = 0; i < PAGES; i++) {
        const int left = tokens - (warp + i * WARPS) * PAGE; // tokens of this page, if not more than it has room for
        if (left <= 0) break;
        const size_t begin = (numbers[i] * kv_heads + head) * PAGE * HEAD;
        uint4 keys[HEAD / 32][2], values[HEAD / 64][4];
#pragma unroll
        for (int j = 0; j < HEAD / 32; j++) {
            keys[j][0] = load_row<HEAD>(k_cache + begin, row, left, 4 * j + quarter);
            keys[j][1] = load_row<HEAD>(k_cache + begin, row + 8, left, 4 * j + quarter);
        }
#pragma unroll
        for (int j = 0; j < HEAD / 64; j++) {
#pragma unroll
            for (int token = 0; token < 4; token++) {
                values[j][token] = load_row<HEAD>(v_cache + begin, token / 2 * 8 + 2 * quarter + token % 2, left, 8 * j + row);
            }
        }

        // Scores of eight tokens each.
        float scores[2][4] = {};
#pragma unroll
        for (int j = 0; j < HEAD / 32; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                multiply(scores[half], queries[2 * j], keys[j][half].x, keys[j][half].y);
                multiply(scores[half], queries[2 * j + 1], keys[j][half].z, keys[j][half].w);
            }
        }
        if (left < PAGE) {
            // No token: its weight is 0.
#pragma unroll
            for (int j = 0; j < 8; j++) {
                if (j / 4 * 8 + 2 * quarter + j % 2 >= left) scores[j / 4][j % 4] = -CUDART_INF_F;
            }
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float before = largest[half];
            const float more = fmaxf(fmaxf(scores[0][2 * half], scores[0][2 * half + 1]), fmaxf(scores[1][2 * half], scores[1][2 * half + 1]));
            largest[half] = reduce_lanes<4>(fmaxf(before, more), Max());
            const float correction = exp2f((before - largest[half]) * scale);
            sum[half] *= correction;
#pragma unroll
            for (int j = 0; j < HEAD / 8; j++) {
                result[j][2 * half] *= correction;
                result[j][2 * half + 1] *= correction;
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float& score = scores[j / 2][2 * half + j % 2];
                score = exp2f((score - largest[half]) * scale);
                sum[half] += score;
            }
        }

        // The weights lie where a left factor's fragment has them. A column of the right factor is every eighth element of the values.
        const unsigned weights[4] = {pair_of(scores[0][0], scores[0][1]), pair_of(scores[0][2], scores[0][3]),
                                     pair_of(scores[1][0], scores[1][1]), pair_of(scores[1][2], scores[1][3])};
#pragma unroll
        for (int j = 0; j < HEAD / 8; j++) {
            const uint4(&of_tokens)[4] = values[j / 8];
            multiply(result[j], weights, column_of(of_tokens[0], of_tokens[1], j % 8), column_of(of_tokens[2], of_tokens[3], j % 8));
        }
    }

#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float total = reduce_lanes<4>(sum[half], Sum());
        if (quarter == 0) shared.largest[warp][row + 8 * half] = largest[half], shared.sum[warp][row + 8 * half] = total;
#pragma unroll
        for (int j = 0; j < HEAD / 8; j++) {
            float* to = &shared.result[warp][row + 8 * half][j / 8 * 64 + 16 * quarter + j % 8];
            to[0] = result[j][2 * half];
            to[8] = result[j][2 * half + 1];
        }
    }
    __syncthreads();
    // The warps' results come together as those of parts do later.
    for (int i = threadIdx.x; i < heads * HEAD; i += THREADS) {
        float most = -CUDART_INF_F, total = 0.0f, weighted = 0.0f;
#pragma unroll
        for (int j = 0; j < WARPS; j++) most = fmaxf(most, shared.largest[j][i / HEAD]);
#pragma unroll
        for (int j = 0; j < WARPS; j++) {
            const float correction = exp2f((shared.largest[j][i / HEAD] - most) * scale);
            total += correction * shared.sum[j][i / HEAD];
            weighted += correction * shared.result[j][i / HEAD][i % HEAD];
        }
        partial[i / HEAD * parts * HEAD + i % HEAD] = weighted;
        if (i % HEAD == 0) *(float2*)&sums[i / HEAD * parts * 2] = make_float2(most * scale, total);
    }
    // The next heads' results take the place of these, which every warp must have read.
    __syncthreads();
}

// All heads of queries that share head `head` of the keys, for one part of one sequence.
template <int HEAD>
__device__ void attend_all(Shared<HEAD>& shared, const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                           const int* lengths, float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t pages) {
    // The heads of a part follow each other in the grid: their rows are on the same pages.
    const size_t parts = (PAGE * pages + PART - 1) / PART, group = q_heads / kv_heads;
    const size_t head = blockIdx.x % kv_heads, part = blockIdx.x / kv_heads % parts, sequence = blockIdx.x / kv_heads / parts;
    const size_t begin = part * PART, length = lengths[sequence];
    if (begin >= length) return;
    const int tokens = length - begin < PART ? length - begin : PART;
    for (size_t first = 0; first < group; first += HEADS) {
        const size_t row = sequence * q_heads + head * group + first;
        attend<HEAD>(shared, q + row * HEAD, k_cache, v_cache, block_table + sequence * pages + begin / PAGE,
                     partial + (row * parts + part) * HEAD, sums + (row * parts + part) * 2, kv_heads, head,
                     group - first < HEADS ? group - first : HEADS, parts, tokens);
    }
}

// The blocks of a sequence follow each other. Three of them are to be on an SM, so that one loads while another computes.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    decode_attention(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table, const int* lengths,
                     float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
    __shared__ __align__(16) char memory[sizeof(Shared<128>)];
    if (head_dim == 64) {
        attend_all<64>(*(Shared<64>*)memory, q, k_cache, v_cache, block_table, lengths, partial, sums, q_heads, kv_heads, pages);
    } else {
        attend_all<128>(*(Shared<128>*)memory, q, k_cache, v_cache, block_table, lengths, partial, sums, q_heads, kv_heads, pages);
    }
}

// A block has a head of queries of a sequence, and each of its `head_dim` threads an element.
extern "C" __global__ void merge_parts(const float* partial, const float* sums, const int* lengths, bf16* out, size_t q_heads,
                                       size_t pages) {
    const size_t parts = (PAGE * pages + PART - 1) / PART, row = blockIdx.x;
    const int used = (lengths[row / q_heads] + PART - 1) / PART;
    const float2* of_parts = (const float2*)sums + row * parts;
    float largest = -CUDART_INF_F;
    for (int part = 0; part < used; part++) largest = fmaxf(largest, of_parts[part].x);
    float sum = 0.0f, result = 0.0f;
    for (int part = 0; part < used; part++) {
        // What a part has is relative to its own largest score.
        const float correction = exp2f(of_parts[part].x - largest);
        sum += correction * of_parts[part].y;
        result += correction * partial[(row * parts + part) * blockDim.x + threadIdx.x];
    }
    out[row * blockDim.x + threadIdx.x] = __float2bfloat16(result / sum);
}
