// flash_attention: out = softmax(q k^T / sqrt(d)) v for each head, all bf16 with sums in f32.
//
// q, k, v and out have `heads` heads of `length` rows of d elements, one head after the other; d is `head_dim`, 64 or 128.
//
// Unfused, this is four launches, with `length` scores for each query between them:
//     scores_bf16             scores = q k^T                    writes them
//     scale_scores_bf16       scaled = scores / sqrt(d)         reads and writes them
//     softmax_scores_bf16     weights = softmax of each row     reads and writes them
//     weighted_values_bf16    out = weights v                   reads them
// One kernel needs none of them in memory, and makes both products on tensor cores.
//
// Grade it with: cargo xtask grade flash_attention
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 128;
const int QUERIES = 64; // A block has so many queries of one head, and each of its four warps 16 of them.
const int KEYS = 64;    // It holds so many keys and values at a time.

// Rows in shared memory are 16 bytes longer than what they hold: the eight rows of a small matrix then lie in different banks.
template <int HEAD>
struct Tiles {
    bf16 keys[KEYS][HEAD + 8]; // The queries too, before the first keys.
    bf16 values[KEYS][HEAD + 8];
};

// Copies 64 rows of a head, from number `first` on, with zeros where there are none. PACKS says whether sixteen bytes can be read at once.
template <int HEAD, bool PACKS>
__device__ __forceinline__ void copy_rows(bf16 (&tile)[64][HEAD + 8], const bf16* from, size_t first, size_t length) {
#pragma unroll
    for (int i = 0; i < 64 * HEAD / 8; i += THREADS) {
        const int at = i + threadIdx.x, row = at / (HEAD / 8), column = at % (HEAD / 8) * 8;
        const bool inside = first + row < length;
        const bf16* source = &from[(first + row) * HEAD + column];
        Pack<bf16> pack;
        if constexpr (PACKS) {
            pack.bits = inside ? *(const uint4*)source : make_uint4(0, 0, 0, 0);
        } else {
#pragma unroll
            for (int j = 0; j < 8; j++) pack.at[j] = inside ? source[j] : bf16(0.0f);
        }
        store_pack(&tile[row][column], 0, pack);
    }
}

// Two neighbouring elements of a fragment.
__device__ __forceinline__ unsigned pair_of(float one, float two) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&both;
}

// TODO(kernel): the results of QUERIES queries of one head, from number `first` on. q, k, v and out begin where the head does.
//   - Four warps have 16 queries each. `copy_rows<HEAD, PACKS>(tiles.keys, q, first, length)` brings them on the chip. After a barrier
//     `load_matrices` puts them into `unsigned queries[HEAD / 16][4]`, where they stay. A second barrier, and the tile is free for keys.
//   - A loop goes over the keys in steps of KEYS: copy the rows of k and of v, `__syncthreads()`, and a second one at the loop's end.
//   - `float scores[KEYS / 8][4] = {};` are 16 x KEYS scores, which `multiply` adds up. A key's row is a column of the right factor: it is
//     loaded with `load_matrices`, not transposed.
//   - Keys beyond `length` get the score -CUDART_INF_F.
//   - Each lane has two queries, l / 4 and l / 4 + 8, which it shares with three others: `reduce_lanes<4>` of reduce.cuh. Keep `largest`, `sum`
//     and `float result[HEAD / 8][4]` for both, and correct the last two where the largest score changes.
//   - exp(x / sqrt(HEAD)) is `exp2f(x * 1.44269504f * rsqrtf(HEAD))`.
//   - `pair_of` makes fragments of the weights: sums of two fragments of 16 x 8 lie as the left factor of 16 x 16 wants them. Values are
//     loaded with `load_matrices_transposed`.
//   - At the end divide by the sum of all weights, and write pairs where PACKS is true, else single elements.
template <int HEAD, bool PACKS>
__device__ void attend(Tiles<HEAD>& tiles, const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t first, size_t length) {
}
// END TODO

// The blocks of a head follow each other, so that those that run at the same time read the same keys.
extern "C" __global__ void __launch_bounds__(THREADS) flash_attention(const bf16* q, const bf16* k, const bf16* v, bf16* out,
                                                                      size_t heads, size_t length, size_t head_dim) {
    __shared__ __align__(16) char memory[sizeof(Tiles<128>)];
    const size_t blocks = (length + QUERIES - 1) / QUERIES; // of a head
    const size_t first = blockIdx.x % blocks * QUERIES, begin = blockIdx.x / blocks * length * head_dim;
    const bool packs = aligned16(q, k, v, out);
    q += begin, k += begin, v += begin, out += begin;
    Tiles<64>& small = *(Tiles<64>*)memory;
    Tiles<128>& large = *(Tiles<128>*)memory;
    if (head_dim == 64) {
        packs ? attend<64, true>(small, q, k, v, out, first, length) : attend<64, false>(small, q, k, v, out, first, length);
    } else {
        packs ? attend<128, true>(large, q, k, v, out, first, length) : attend<128, false>(large, q, k, v, out, first, length);
    }
}
