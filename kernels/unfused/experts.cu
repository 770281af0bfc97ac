// The unfused chain of a mixture of experts: all but the two products, which are those of products.cu. Each of these is launched once for
// each expert, except for the first and the last.
//
// A slot is a token with one of the two experts that work on it: slot 2 t + i is token t with its i-th expert. `order` has the
// slots of the launch's expert, and row r of what it reads or writes is that of the slot `order[r]`. A block has a row.
#include <cuda_bf16.h>

// ANCHOR: experts
extern "C" __global__ void fill_zeros(float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.0f;
}

// The tokens of an expert, behind each other.
extern "C" __global__ void gather_rows(const __nv_bfloat16* x, const int* order, __nv_bfloat16* out, size_t rows, size_t columns) {
    const __nv_bfloat16* row = x + order[blockIdx.x] / 2 * columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[blockIdx.x * columns + c] = row[c];
}

// silu(gate) up: a row of x has the gates of `columns` elements first, and then what they let through.
extern "C" __global__ void swiglu_bf16(const __nv_bfloat16* x, __nv_bfloat16* out, size_t rows, size_t columns) {
    const __nv_bfloat16* row = x + blockIdx.x * 2 * columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        const float gate = __bfloat162float(row[c]), up = __bfloat162float(row[columns + c]);
        out[blockIdx.x * columns + c] = __float2bfloat16_rn(gate / (1.0f + expf(-gate)) * up);
    }
}

// Adds each row to that of its token, times the slot's weight. No token has an expert twice, so no two blocks have the same row.
extern "C" __global__ void scatter_add(const __nv_bfloat16* rows_of_slots, const int* order, const float* weights, const float* sums,
                                       float* out, size_t rows, size_t columns) {
    const size_t slot = order[blockIdx.x], row = slot / 2 * columns;
    const float weight = weights[slot];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[row + c] = sums[row + c] + weight * __bfloat162float(rows_of_slots[blockIdx.x * columns + c]);
    }
}
// ANCHOR_END: experts
