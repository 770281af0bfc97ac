// The unfused chain of attention in bf16, whose products are made on tensor cores. What the arguments are, attention.cu says.
//
// A block of the products has 128 threads and 64 queries of a head, and each of its warps 16 of them.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"
#include "tensor.cuh"

#if __CUDA_ARCH__ >= 800
// Copies 64 rows of COLUMNS elements of a matrix with rows of `stride`, from a row and a column on, with zeros for those that it does not have.
template <int COLUMNS, bool PACKS>
__device__ __forceinline__ void copy_tile(__nv_bfloat16 (*tile)[COLUMNS + 8], const __nv_bfloat16* from, size_t row, size_t column,
                                          size_t rows, size_t stride) {
#pragma unroll
    for (int i = 0; i < 64 * COLUMNS / 8; i += 128) {
        const int at = i + threadIdx.x, r = at / (COLUMNS / 8), c = at % (COLUMNS / 8) * 8;
        const __nv_bfloat16* source = &from[(row + r) * stride + column + c];
        Pack<__nv_bfloat16> pack;
        if constexpr (PACKS) {
            const bool inside = row + r < rows && column + c < stride;
            pack.bits = inside ? *(const uint4*)source : make_uint4(0, 0, 0, 0);
        } else {
#pragma unroll
            for (int j = 0; j < 8; j++) pack.at[j] = row + r < rows && column + c + j < stride ? source[j] : __nv_bfloat16(0.0f);
        }
        store_pack(&tile[r][c], 0, pack);
    }
}

// Writes two neighbouring elements of a row as far as the row has them.
__device__ __forceinline__ void write_pair(__nv_bfloat16* row, size_t column, size_t columns, bool pairs, float one, float two) {
    if (column >= columns) return;
    if (pairs) {
        *(__nv_bfloat162*)&row[column] = __floats2bfloat162_rn(one, two);
    } else {
        row[column] = __float2bfloat16(one);
        if (column + 1 < columns) row[column + 1] = __float2bfloat16(two);
    }
}

// ANCHOR: scores
template <bool PACKS>
__device__ void scores_of(__nv_bfloat16 (*rows)[72], __nv_bfloat16 (*columns)[72], const __nv_bfloat16* q, const __nv_bfloat16* k,
                          __nv_bfloat16* scores, size_t top, size_t length, size_t head_dim) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (size_t left = 0; left < length; left += 64) {
        float sums[8][4] = {};
        for (size_t step = 0; step < head_dim; step += 64) {
            copy_tile<64, PACKS>(rows, q, top, step, length, head_dim);
            copy_tile<64, PACKS>(columns, k, left, step, length, head_dim);
            __syncthreads();
#pragma unroll
            for (int inner = 0; inner < 64; inner += 16) {
                unsigned of_q[4];
                load_matrices(of_q, &rows[16 * warp + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    unsigned of_k[4];
                    load_matrices(of_k, &columns[16 * j + lane / 16 * 8 + lane % 8][inner + lane / 8 % 2 * 8]);
                    multiply(sums[2 * j], of_q, of_k[0], of_k[1]);
                    multiply(sums[2 * j + 1], of_q, of_k[2], of_k[3]);
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const size_t query = top + 16 * warp + 8 * half + lane / 4;
            if (query >= length) continue;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                write_pair(&scores[query * length], left + 8 * j + lane % 4 * 2, length, length % 2 == 0, sums[j][2 * half],
                           sums[j][2 * half + 1]);
            }
        }
    }
}

extern "C" __launch_bounds__(128) __global__
    void scores_bf16(const __nv_bfloat16* q, const __nv_bfloat16* k, __nv_bfloat16* scores, size_t heads, size_t kv_heads,
                     size_t length, size_t head_dim) {
    __shared__ __align__(16) __nv_bfloat16 rows[64][72], columns[64][72];
    const size_t tiles = (length + 63) / 64, head = blockIdx.x / tiles, top = blockIdx.x % tiles * 64;
    q += head * length * head_dim;
    k += head / (heads / kv_heads) * length * head_dim;
    scores += head * length * length;
    if (head_dim % 8 == 0 && aligned16(q, k)) {
        scores_of<true>(rows, columns, q, k, scores, top, length, head_dim);
    } else {
        scores_of<false>(rows, columns, q, k, scores, top, length, head_dim);
    }
}
// ANCHOR_END: scores

// ANCHOR: values
template <bool PACKS>
__device__ void values_of(__nv_bfloat16 (*rows)[72], __nv_bfloat16 (*columns)[72], const __nv_bfloat16* weights, const __nv_bfloat16* v,
                          __nv_bfloat16* out, size_t top, size_t length, size_t head_dim) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (size_t left = 0; left < head_dim; left += 64) {
        float sums[8][4] = {};
        for (size_t step = 0; step < length; step += 64) {
            copy_tile<64, PACKS>(rows, weights, top, step, length, length);
            copy_tile<64, PACKS>(columns, v, step, left, length, head_dim);
            __syncthreads();
#pragma unroll
            for (int inner = 0; inner < 64; inner += 16) {
                unsigned of_weights[4];
                load_matrices(of_weights, &rows[16 * warp + lane % 16][inner + lane / 16 * 8]);
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    unsigned of_v[4];
                    load_matrices_transposed(of_v, &columns[inner + lane % 16][16 * j + lane / 16 * 8]);
                    multiply(sums[2 * j], of_weights, of_v[0], of_v[1]);
                    multiply(sums[2 * j + 1], of_weights, of_v[2], of_v[3]);
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const size_t query = top + 16 * warp + 8 * half + lane / 4;
            if (query >= length) continue;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                write_pair(&out[query * head_dim], left + 8 * j + lane % 4 * 2, head_dim, head_dim % 2 == 0, sums[j][2 * half],
                           sums[j][2 * half + 1]);
            }
        }
    }
}

extern "C" __launch_bounds__(128) __global__
    void weighted_values_bf16(const __nv_bfloat16* weights, const __nv_bfloat16* v, __nv_bfloat16* out, size_t heads,
                              size_t kv_heads, size_t length, size_t head_dim) {
    __shared__ __align__(16) __nv_bfloat16 rows[64][72], columns[64][72];
    const size_t tiles = (length + 63) / 64, head = blockIdx.x / tiles, top = blockIdx.x % tiles * 64;
    weights += head * length * length;
    v += head / (heads / kv_heads) * length * head_dim;
    out += head * length * head_dim;
    if (length % 8 == 0 && head_dim % 8 == 0 && aligned16(weights, v)) {
        values_of<true>(rows, columns, weights, v, out, top, length, head_dim);
    } else {
        values_of<false>(rows, columns, weights, v, out, top, length, head_dim);
    }
}
// ANCHOR_END: values
#endif

// ANCHOR: softmax
// A block has the scores of one query.
extern "C" __global__ void scale_scores_bf16(const __nv_bfloat16* scores, __nv_bfloat16* scaled, size_t heads, size_t kv_heads,
                                             size_t length, size_t head_dim) {
    scores += blockIdx.x * length;
    scaled += blockIdx.x * length;
    const float scale = rsqrtf(head_dim);
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) scaled[key] = __float2bfloat16(__bfloat162float(scores[key]) * scale);
}

// Query i sees keys 0 to i.
extern "C" __global__ void mask_scores_bf16(const __nv_bfloat16* scores, __nv_bfloat16* masked, size_t heads, size_t kv_heads,
                                            size_t length, size_t head_dim) {
    const size_t query = blockIdx.x % length;
    scores += blockIdx.x * length;
    masked += blockIdx.x * length;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) {
        masked[key] = key <= query ? scores[key] : __float2bfloat16(-CUDART_INF_F);
    }
}

extern "C" __global__ void softmax_scores_bf16(const __nv_bfloat16* scores, __nv_bfloat16* weights, size_t heads, size_t kv_heads,
                                               size_t length, size_t head_dim) {
    __shared__ float maxima[32], sums[32];
    scores += blockIdx.x * length;
    weights += blockIdx.x * length;
    float largest = -CUDART_INF_F;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) largest = fmaxf(largest, __bfloat162float(scores[key]));
    largest = reduce_block(largest, maxima, -CUDART_INF_F, Max());
    float sum = 0.0f;
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) sum += expf(__bfloat162float(scores[key]) - largest);
    const float factor = 1.0f / reduce_block(sum, sums, 0.0f, Sum());
    for (size_t key = threadIdx.x; key < length; key += blockDim.x) {
        weights[key] = __float2bfloat16(expf(__bfloat162float(scores[key]) - largest) * factor);
    }
}
// ANCHOR_END: softmax
