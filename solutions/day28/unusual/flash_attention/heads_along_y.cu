// The heads lie along the grid's y, and the blocks of a head along its x.
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

// The results of QUERIES queries of one head, from number `first` on. q, k, v and out begin where the head does.
template <int HEAD, bool PACKS>
__device__ void attend(Tiles<HEAD>& tiles, const bf16* __restrict__ q, const bf16* __restrict__ k, const bf16* __restrict__ v,
                       bf16* __restrict__ out, size_t first, size_t length) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // The queries stay in registers: HEAD / 16 fragments of 16 x 16.
    unsigned queries[HEAD / 16][4];
    copy_rows<HEAD, PACKS>(tiles.keys, q, first, length);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) load_matrices(queries[i], &tiles.keys[16 * warp + lane % 16][16 * i + lane / 16 * 8]);
    __syncthreads();

    // Lane l has two queries, number l / 4 of its warp and number l / 4 + 8. Of the results it has the sums that `multiply` gives it.
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {};
    float result[HEAD / 8][4] = {};
    // exp(x / sqrt(HEAD)) is 2 to the power of x times this.
    const float scale = 1.44269504f * rsqrtf(HEAD);
    for (size_t key = 0; key < length; key += KEYS) {
        copy_rows<HEAD, PACKS>(tiles.keys, k, key, length);
        copy_rows<HEAD, PACKS>(tiles.values, v, key, length);
        __syncthreads();

        // Scores: a row of the keys is a column of the right factor, as its fragments want it.
        float scores[KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < HEAD / 16; i++) {
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                unsigned keys[4];
                load_matrices(keys, &tiles.keys[16 * j + lane / 16 * 8 + lane % 8][16 * i + lane / 8 % 2 * 8]);
                multiply(scores[2 * j], queries[i], keys[0], keys[1]);
                multiply(scores[2 * j + 1], queries[i], keys[2], keys[3]);
            }
        }
        if (key + KEYS > length) {
            // No key: its weight is 0.
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    if (key + 8 * j + lane % 4 * 2 + i % 2 >= length) scores[j][i] = -CUDART_INF_F;
                }
            }
        }

        // What was added up so far was relative to the largest score so far. Four lanes share a query.
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float before = largest[half];
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
                largest[half] = fmaxf(largest[half], fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
            }
            largest[half] = reduce_lanes<4>(largest[half], Max());
            const float correction = exp2f((before - largest[half]) * scale);
            sum[half] *= correction;
#pragma unroll
            for (int j = 0; j < HEAD / 8; j++) {
                result[j][2 * half] *= correction;
                result[j][2 * half + 1] *= correction;
            }
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int i = 2 * half; i < 2 * half + 2; i++) {
                    scores[j][i] = exp2f((scores[j][i] - largest[half]) * scale);
                    sum[half] += scores[j][i];
                }
            }
        }

        // The weights lie where a left factor's fragment has them: two fragments of 16 x 8 sums are one of 16 x 16.
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) {
            const unsigned weights[4] = {pair_of(scores[2 * j][0], scores[2 * j][1]), pair_of(scores[2 * j][2], scores[2 * j][3]),
                                         pair_of(scores[2 * j + 1][0], scores[2 * j + 1][1]),
                                         pair_of(scores[2 * j + 1][2], scores[2 * j + 1][3])};
#pragma unroll
            for (int i = 0; i < HEAD / 16; i++) {
                unsigned values[4];
                load_matrices_transposed(values, &tiles.values[16 * j + lane % 16][16 * i + lane / 16 * 8]);
                multiply(result[2 * i], weights, values[0], values[1]);
                multiply(result[2 * i + 1], weights, values[2], values[3]);
            }
        }
        // The next tiles take the place of these, which every warp must have read.
        __syncthreads();
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const size_t query = first + 16 * warp + 8 * half + lane / 4;
        const float factor = 1.0f / reduce_lanes<4>(sum[half], Sum());
        if (query >= length) continue;
#pragma unroll
        for (int j = 0; j < HEAD / 8; j++) {
            const __nv_bfloat162 both = __floats2bfloat162_rn(result[j][2 * half] * factor, result[j][2 * half + 1] * factor);
            bf16* to = &out[query * HEAD + 8 * j + lane % 4 * 2];
            if constexpr (PACKS) {
                *(__nv_bfloat162*)to = both;
            } else {
                to[0] = both.x;
                to[1] = both.y;
            }
        }
    }
}

// The blocks of a head follow each other, so that those that run at the same time read the same keys.
extern "C" __global__ void __launch_bounds__(THREADS) flash_attention(const bf16* q, const bf16* k, const bf16* v, bf16* out,
                                                                      size_t heads, size_t length, size_t head_dim) {
    __shared__ __align__(16) char memory[sizeof(Tiles<128>)];
    const size_t first = (size_t)blockIdx.x * QUERIES, begin = blockIdx.y * length * head_dim;
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
