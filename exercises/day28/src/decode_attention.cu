// decode_attention: out = softmax(q K^T / sqrt(d)) V for one new token of each sequence, all bf16 with sums in f32.
//
// q and out have `q_heads` heads of d elements for each of `sequences` sequences; d is `head_dim`, 64 or 128. The keys and values of
// a sequence are in a cache, on pages of 16 tokens. A page has, for each of `kv_heads` heads, 16 rows of d elements. Row s of
// `block_table` has the numbers of the pages of sequence s, in their order. It has room for `pages` of them, and `lengths[s]` says how
// many tokens there are. What lies on a page beyond them is NaN, and so are pages that no sequence has. Query heads that follow each other
// share a head of keys: head h has head h / (q_heads / kv_heads).
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
//     2 elements of `sums`: the part's largest score, and the sum of exp(score - largest)
//
// Grade it with: cargo xtask grade decode_attention
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int PART = 256; // Tokens of a part.
const int PAGE = 16;  // Tokens of a page.
const int HEADS = 4;  // So many heads of queries use a key that is loaded.

// What a block has in shared memory.
template <int HEAD>
struct Shared {
    int pages[PART / PAGE];              // The numbers of the part's pages.
    float weights[HEADS][PART];          // Scores first.
    float partial[THREADS / 32][HEADS][HEAD]; // Of each warp.
};

// Eight elements of a row of the cache, number `pack` of it: of token `token` of the part.
template <int HEAD>
__device__ __forceinline__ Pack<bf16> load_row(const Shared<HEAD>& shared, const bf16* cache, size_t kv_heads, size_t head, int token,
                                               int pack) {
    const size_t page = shared.pages[token / PAGE];
    return load_pack(cache, ((page * kv_heads + head) * PAGE + token % PAGE) * (HEAD / 8) + pack);
}

// TODO(kernel): two kernels. The first has one block of THREADS threads for PART tokens of one sequence and one head of the keys, for all heads of
// queries that share it. The second merges what the parts of a sequence have found out.
//   - A sequence has room for (PAGE * pages + PART - 1) / PART parts. Compute the block's head of keys, its part and its sequence from
//     blockIdx.x, in `size_t`. A part that begins at `lengths[sequence]` or behind it has nothing to do: return.
//   - Read the part's page numbers once, into `shared.pages`, and wait at a barrier. `load_row` finds a token's row by them.
//   - Write a function `template <int HEAD> __device__ void attend(Shared<HEAD>& shared, ...)` for what follows, for HEADS heads of queries or fewer. Call
//     it with 64 or 128 for `head_dim`, and again until all heads of the group are done. `__shared__ __align__(16) char
//     memory[sizeof(Shared<128>)];` has room for either: `*(Shared<64>*)memory`.
//   - A row is HEAD / 8 packs of 16 bytes: so many lanes have a row, and the other lanes other rows. Load several keys into an array before
//     you use the first, so that many bytes are in flight.
//   - A lane multiplies its eight elements with those of each query, and `reduce_lanes` of reduce.cuh adds up over the lanes of the row. The
//     score goes to `shared.weights`. Load no token beyond the sequence's length: there is NaN.
//   - After a barrier one warp for each head finds the largest score, replaces scores by exp(score - largest), adds these up, and writes
//     both numbers to `sums`. exp(x / sqrt(HEAD)) is `exp2f(x * 1.44269504f * rsqrtf(HEAD))`.
//   - After a barrier load the values like the keys. Each thread adds up weight times value of its rows and its eight elements; then
//     add up over the lanes that have the same elements, and by `shared.partial` over the warps. Write `partial`.
//   - The second kernel goes over the parts that a sequence has, and no others: the largest of their scores first, and then the sums, each times
//     exp(the part's largest score - the largest of all).
extern "C" __global__ void __launch_bounds__(THREADS)
    decode_attention(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table, const int* lengths,
                     float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
}

extern "C" __global__ void merge_parts(const float* partial, const float* sums, const int* lengths, bf16* out, size_t q_heads,
                                       size_t pages) {
}
// END TODO
