// rope, from plain to fast. A block has a token. `pairing` is 0 where the elements i and i + head_dim / 2 of a head are a pair, NeoX, and 1
// where 2i and 2i + 1 are, GPT-J. The last two arguments, which a step of the course always has, are not used.
#include "pack.cuh"

// Where the first element of pair i of a token's head is, of q or of k, and how far from it the second.
struct Place {
    __nv_bfloat16 *q, *k;
    const float* row;
    unsigned queries, head_dim, half;
    bool neox;

    __device__ __forceinline__ Place(const int* positions, const float* table, __nv_bfloat16* q, __nv_bfloat16* k, int pairing,
                                     size_t q_heads, size_t k_heads, size_t head_dim)
        : q(q + blockIdx.x * q_heads * head_dim), k(k + blockIdx.x * k_heads * head_dim),
          row(table + positions[blockIdx.x] * head_dim), queries(q_heads), head_dim(head_dim), half(head_dim / 2), neox(pairing == 0) {}

    __device__ __forceinline__ __nv_bfloat16* head(unsigned number) const {
        return number < queries ? q + number * head_dim : k + (number - queries) * head_dim;
    }
    __device__ __forceinline__ __nv_bfloat16* first(unsigned pair) const {
        return head(pair / half) + (neox ? pair % half : 2 * (pair % half));
    }
    __device__ __forceinline__ unsigned apart() const { return neox ? half : 1; }
};

// ANCHOR: pairs
// A thread has a pair: it reads two elements, and writes two. Then it goes on to the next one.
extern "C" __global__ void rope_pairs(const int* __restrict__ positions, const float* __restrict__ table,
                                      __nv_bfloat16* __restrict__ q, __nv_bfloat16* __restrict__ k, int pairing,
                                      size_t q_heads, size_t k_heads, size_t head_dim, size_t rows, size_t columns) {
    const Place place(positions, table, q, k, pairing, q_heads, k_heads, head_dim);
    const unsigned pairs = (q_heads + k_heads) * place.half;
    for (unsigned p = threadIdx.x; p < pairs; p += blockDim.x) {
        __nv_bfloat16 *first = place.first(p), *second = first + place.apart();
        const float cos = place.row[p % place.half], sin = place.row[place.half + p % place.half];
        const float a = to_float(*first), b = to_float(*second);
        *first = from_float<__nv_bfloat16>(a * cos - b * sin);
        *second = from_float<__nv_bfloat16>(b * cos + a * sin);
    }
}
// ANCHOR_END: pairs

// ANCHOR: two
// Two pairs at once, by accesses of 4 bytes. In NeoX the first elements of two pairs lie beside each other, and their second ones do.
extern "C" __global__ void rope_two(const int* __restrict__ positions, const float* __restrict__ table,
                                    __nv_bfloat16* __restrict__ q, __nv_bfloat16* __restrict__ k, int pairing,
                                    size_t q_heads, size_t k_heads, size_t head_dim, size_t rows, size_t columns) {
    const Place place(positions, table, q, k, pairing, q_heads, k_heads, head_dim);
    const unsigned each = place.half / 2, all = (q_heads + k_heads) * each;
    for (unsigned w = threadIdx.x; w < all; w += blockDim.x) {
        const unsigned i = w % each;
        __nv_bfloat162* x = (__nv_bfloat162*)place.head(w / each);
        __nv_bfloat162* first = x + (place.neox ? i : 2 * i);
        __nv_bfloat162* second = first + (place.neox ? each : 1);
        const float2 c = ((const float2*)place.row)[i], s = ((const float2*)(place.row + place.half))[i];
        const float2 u = __bfloat1622float2(*first), v = __bfloat1622float2(*second);
        if (place.neox) {
            *first = __floats2bfloat162_rn(u.x * c.x - v.x * s.x, u.y * c.y - v.y * s.y);
            *second = __floats2bfloat162_rn(v.x * c.x + u.x * s.x, v.y * c.y + u.y * s.y);
        } else {
            *first = __floats2bfloat162_rn(u.x * c.x - u.y * s.x, u.y * c.x + u.x * s.x);
            *second = __floats2bfloat162_rn(v.x * c.y - v.y * s.y, v.y * c.y + v.x * s.y);
        }
    }
}
// ANCHOR_END: two

// ANCHOR: packs
// Eight pairs lie in two pieces of 16 bytes, and their cosines and sines in two each.
extern "C" __global__ void rope_packs(const int* __restrict__ positions, const float* __restrict__ table,
                                      __nv_bfloat16* __restrict__ q, __nv_bfloat16* __restrict__ k, int pairing,
                                      size_t q_heads, size_t k_heads, size_t head_dim, size_t rows, size_t columns) {
    const Place place(positions, table, q, k, pairing, q_heads, k_heads, head_dim);
    const unsigned chunks = place.half / 8, all = (q_heads + k_heads) * chunks;
    for (unsigned w = threadIdx.x; w < all; w += blockDim.x) {
        const unsigned chunk = w % chunks;
        __nv_bfloat16* x = place.head(w / chunks) + (place.neox ? 8 : 16) * chunk;
        const unsigned apart = place.neox ? chunks : 1;
        Pack<__nv_bfloat16> one = load_pack(x, 0), other = load_pack(x, apart);
        Pack<float> cos[2], sin[2];
        for (int j = 0; j < 2; j++) {
            cos[j] = load_pack(place.row, 2 * chunk + j);
            sin[j] = load_pack(place.row + place.half, 2 * chunk + j);
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float2 u = to_float2(one, j), v = to_float2(other, j);
            if (place.neox) {
                const float2 c = to_float2(cos[j / 2], j % 2), s = to_float2(sin[j / 2], j % 2);
                set_float2(one, j, make_float2(u.x * c.x - v.x * s.x, u.y * c.y - v.y * s.y));
                set_float2(other, j, make_float2(v.x * c.x + u.x * s.x, v.y * c.y + u.y * s.y));
            } else {
                const float c = cos[0].at[j], s = sin[0].at[j], d = cos[1].at[j], t = sin[1].at[j];
                set_float2(one, j, make_float2(u.x * c - u.y * s, u.y * c + u.x * s));
                set_float2(other, j, make_float2(v.x * d - v.y * t, v.y * d + v.x * t));
            }
        }
        store_pack(x, 0, one);
        store_pack(x, apart, other);
    }
}
// ANCHOR_END: packs
