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

// TODO(kernel): two kernels. The first has one block of THREADS threads for PART tokens of one sequence and one head of the keys, for all heads of
// queries that share it. The second merges what the parts of a sequence have found out.
//   - A sequence has room for (PAGE * pages + PART - 1) / PART parts. Compute the block's head of keys, its part and its sequence from
//     blockIdx.x, in `size_t`. If the part begins at `lengths[sequence]` or later, it has nothing to do: return.
//   - Write a function `template <int HEAD> __device__ void attend(Shared<HEAD>& shared, ...)` for what follows, for HEADS heads of queries or fewer. Call
//     it with 64 or 128 for `head_dim`, and again until all heads of the group are done. `extern __shared__ __align__(16) char
//     memory[];` has room for either, if the launch asks for it: `*(Shared<64>*)memory`.
//   - The heads of a group are the rows of the left factor, as the queries of a block are in `flash_attention`: `unsigned queries[HEAD / 16][4]`,
//     with zeros for rows without a head. Each of the four is two neighbouring elements of q: load them as one `unsigned`. A warp has every
//     fourth page of the part, and keeps `largest`, `sum` and `float result[HEAD / 8][4]`.
//   - Read the numbers of the warp's pages first. Then each warp copies its own pages with `copy_page`, keys and values, and calls
//     `commit_copies` once per page, also where there is no page. Begin with the first STAGES - 1 pages.
//   - For each page: `wait_for_copies<STAGES - 2>()` and `__syncwarp()`. Start the page STAGES - 1 further on, whose place is free
//     now. Then compute.
//   - Both products are as in `flash_attention`: `load_matrices` for keys, `load_matrices_transposed` for values. Pack `pack` of row `row` begins
//     at `page.keys[row][place_of(row, pack)]`.
//   - Read no token beyond the sequence's length: there is NaN. `copy_page` makes zeros of it, and the score must be -CUDART_INF_F.
//   - exp(x / sqrt(HEAD)) is `exp2f(x * scale)` with `scale = 1.44269504f * rsqrtf(HEAD)`, so q k^T need not be divided.
//   - At the end the warps write their results to `shared`, where their pages were. Three barriers are needed: before they write, before
//     what they wrote is read, and before the next heads' pages come. Correct each result to the largest score of all, and add
//     them. Write `partial`, not divided, and both numbers of `sums`. The first number is `largest * scale`.
//   - The second kernel goes over the parts that a sequence has, and no others. First find the largest of their first numbers. Then add
//     the sums, each times exp2f(the part's first number - the largest of all). `blockDim.x` says how many elements a head has.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    decode_attention(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table, const int* lengths,
                     float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
}

extern "C" __global__ void merge_parts(const float* partial, const float* sums, const int* lengths, bf16* out, size_t q_heads,
                                       size_t pages) {
}
// END TODO
