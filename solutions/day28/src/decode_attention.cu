// decode_attention: out = softmax(q K^T / sqrt(d)) V for one new token of each sequence, all bf16 with sums in f32.
//
// q and out have `q_heads` heads of d elements for each of `sequences` sequences; d is `head_dim`, 64 or 128. The keys and values of
// a sequence are in a cache, on pages of 16 tokens. A page has, for each of `kv_heads` heads, 16 rows of d elements. Row s of
// `block_table` has the numbers of the pages of sequence s, in their order. It has room for `pages` of them, and `lengths[s]` says how
// many tokens there are. The rest of a row, for which the sequence has no pages, is -1. What lies on a page beyond its tokens is NaN, and
// so are pages that no sequence has. Query heads that follow each other share a head of keys: head h has head h / (q_heads / kv_heads).
//
// Unfused, this is five launches:
//     gather_pages, twice   keys and values of each sequence, one behind the other     reads and writes them
//     decode_scores         scores = q K^T / sqrt(d)                                   reads the keys again
//     decode_softmax        weights = softmax of each head's scores
//     decode_values         out = weights V                                            reads the values again
// Here are two, and the cache is read once. The first has a block for each PART tokens of each sequence and head of keys. What these blocks
// find out, the second one merges. Between them it is in two buffers that are lent. For head h of sequence s and part p,
// (s * q_heads + h) * parts + p is the number of
//     d elements of `partial`: sum of exp(score - largest) * value
//     2 elements of `sums`: the part's largest score times log2(e), and the sum of exp(score - largest)
//
// Grade it with: cargo xtask grade decode_attention
#include <cuda_bf16.h>
#include <math_constants.h>

#include "async.cuh"
#include "reduce.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 128;
const int PART = 256; // Tokens of a part.
const int PAGE = 16;  // Tokens of a page.
const int HEADS = 16; // Heads of queries that are done together: the rows of a fragment.
const int STAGES = 3; // Pages for which a warp has room: two are on their way while it computes with one.

// Each warp's pages. In the end their place is taken by what each warp has found out, relative to its own largest score.
template <int HEAD>
union Shared {
    struct {
        bf16 keys[PAGE][HEAD], values[PAGE][HEAD];
    } pages[THREADS / 32][STAGES];
    struct {
        float largest[THREADS / 32][HEADS], sum[THREADS / 32][HEADS], result[THREADS / 32][HEADS][HEAD];
    };
};

// Where a row has its pack number `pack`: packs are eight elements. Eight rows have the same pack at eight places, so that a load of
// matrices finds them in different banks.
__device__ __forceinline__ int place_of(int row, int pack) { return (pack ^ row % 8) * 8; }

// Starts copying the rows of one head of a page. There are `rows` of them; the others become zeros.
template <int HEAD>
__device__ __forceinline__ void copy_page(bf16 (&to)[PAGE][HEAD], const bf16* from, int rows) {
#pragma unroll
    for (int i = 0; i < PAGE * HEAD / 8 / 32; i++) {
        const int at = i * 32 + threadIdx.x % 32, row = at / (HEAD / 8), pack = at % (HEAD / 8);
        copy16_async(&to[row][place_of(row, pack)], from + row * HEAD + pack * 8, row < rows);
    }
}

// Two neighbouring elements of a fragment.
__device__ __forceinline__ unsigned pair_of(float one, float two) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&both;
}

// ANCHOR: kernel
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

    unsigned queries[HEAD / 16][4];
#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int query = row + j % 2 * 8;
            queries[i][j] = query < heads ? ((const unsigned*)(q + query * HEAD))[8 * i + j / 2 * 4 + quarter] : 0;
        }
    }
    // All page numbers before the first page: the address of a page waits for its own number alone. Where the sequence has no page, the table has -1,
    // or ends.
    int numbers[PAGES];
#pragma unroll
    for (int i = 0; i < PAGES; i++) numbers[i] = (warp + i * WARPS) * PAGE < tokens ? table[warp + i * WARPS] : 0;

    // The copies of a page are a group, also where there is no page: then the group is empty.
    const auto start_page = [&](int i) {
        const int left = tokens - (warp + i * WARPS) * PAGE; // tokens of this page, if not more than it has room for
        if (i < PAGES && left > 0) {
            const size_t begin = (numbers[i] * kv_heads + head) * PAGE * HEAD;
            copy_page(shared.pages[warp][i % STAGES].keys, k_cache + begin, left);
            copy_page(shared.pages[warp][i % STAGES].values, v_cache + begin, left);
        }
        commit_copies();
    };
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) start_page(i);

    // Lane l has two heads of queries, l / 4 and l / 4 + 8.
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {}, result[HEAD / 8][4] = {};
#pragma unroll
    for (int i = 0; i < PAGES; i++) {
        const int left = tokens - (warp + i * WARPS) * PAGE;
        if (left <= 0) break;
        // All lanes of this warp copied the page, and no others. After the barrier they have also read the page before it,
        // whose place the next one takes.
        wait_for_copies<STAGES - 2>();
        __syncwarp();
        start_page(i + STAGES - 1);
        const auto& page = shared.pages[warp][i % STAGES];

        // Scores of eight tokens each. A row of the keys is a column of the right factor, as its fragments want it.
        float scores[2][4] = {};
#pragma unroll
        for (int j = 0; j < HEAD / 16; j++) {
            const int token = lane / 16 * 8 + lane % 8;
            unsigned keys[4];
            load_matrices(keys, &page.keys[token][place_of(token, 2 * j + lane / 8 % 2)]);
            multiply(scores[0], queries[j], keys[0], keys[1]);
            multiply(scores[1], queries[j], keys[2], keys[3]);
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

        // The weights lie where a left factor's fragment has them.
        const unsigned weights[4] = {pair_of(scores[0][0], scores[0][1]), pair_of(scores[0][2], scores[0][3]),
                                     pair_of(scores[1][0], scores[1][1]), pair_of(scores[1][2], scores[1][3])};
#pragma unroll
        for (int j = 0; j < HEAD / 16; j++) {
            const int token = lane % 16;
            unsigned values[4];
            load_matrices_transposed(values, &page.values[token][place_of(token, 2 * j + lane / 16)]);
            multiply(result[2 * j], weights, values[0], values[1]);
            multiply(result[2 * j + 1], weights, values[2], values[3]);
        }
    }
    // The results take the place of the pages.
    __syncthreads();

#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float total = reduce_lanes<4>(sum[half], Sum());
        if (quarter == 0) shared.largest[warp][row + 8 * half] = largest[half], shared.sum[warp][row + 8 * half] = total;
#pragma unroll
        for (int j = 0; j < HEAD / 8; j++) {
            *(float2*)&shared.result[warp][row + 8 * half][8 * j + 2 * quarter] =
                make_float2(result[j][2 * half], result[j][2 * half + 1]);
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
    // The next heads' pages take the place of these results, which every warp must have read.
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

// The blocks of a sequence follow each other. Two of them are to be on an SM, so that one loads while another begins or ends.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    decode_attention(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table, const int* lengths,
                     float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
    extern __shared__ __align__(16) char memory[];
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
// ANCHOR_END: kernel
