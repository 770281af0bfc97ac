// Tiles of keys and values in shared memory, for attention on tensor cores by blocks of 128
// threads. From sm_80 up.
#pragma once
#include <cuda_bf16.h>

#include "pack.cuh"

// ANCHOR: tiles
const int THREADS = 128;
const int QUERIES = 64; // Queries of a block, all of one head. Each of its four warps has 16.
const int KEYS = 64;    // Keys and values that a block holds at a time.
// The queries are copied to where keys are later. Under a causal mask, one tile is partly seen.
static_assert(KEYS == QUERIES, "one shape of tile for both");

// Rows in shared memory are 16 bytes longer than what they hold. Then the eight rows of a small
// matrix are in different banks.
template <int HEAD>
struct Tiles {
    __nv_bfloat16 keys[KEYS][HEAD + 8]; // The queries too, before the first keys.
    __nv_bfloat16 values[KEYS][HEAD + 8];
};

// Copies 64 rows of a head, from row `first` on. Rows from `length` on become zeros. PACKS says
// whether sixteen bytes can be read at once.
template <int HEAD, bool PACKS>
__device__ __forceinline__ void copy_rows(__nv_bfloat16 (&tile)[64][HEAD + 8],
                                          const __nv_bfloat16* from, size_t first, size_t length) {
#pragma unroll
    for (int i = 0; i < 64 * HEAD / 8; i += THREADS) {
        const int at = i + threadIdx.x, row = at / (HEAD / 8), column = at % (HEAD / 8) * 8;
        const bool inside = first + row < length;
        const __nv_bfloat16* source = &from[(first + row) * HEAD + column];
        Pack<__nv_bfloat16> pack;
        if constexpr (PACKS) {
            pack.bits = inside ? *(const uint4*)source : make_uint4(0, 0, 0, 0);
        } else {
#pragma unroll
            for (int j = 0; j < 8; j++) pack.at[j] = inside ? source[j] : __nv_bfloat16(0.0f);
        }
        store_pack(&tile[row][column], 0, pack);
    }
}
// ANCHOR_END: tiles

// Two neighbouring elements of a fragment.
__device__ __forceinline__ unsigned pair_of(float one, float two) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&both;
}
