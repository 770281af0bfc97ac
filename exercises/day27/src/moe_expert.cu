// moe_expert: a layer of a mixture of experts, in bf16 with sums in f32. Of all experts, two work on each token:
//     out[t] = the sum over the two of  weight * (swiglu(x[t] w1[expert]) w2[expert])
//     swiglu of a row (gate, up) = silu(gate) * up,    silu(z) = z / (1 + exp(-z))
//
// x and out have `tokens` rows of `hidden` elements. Expert e has `hidden` rows of `2 * inter` elements in w1: a row has
// `inter` columns of gate, and then `inter` columns of up. The expert has `inter` rows of `hidden` elements in w2.
//
// A slot is a token with one of its experts: slot 2 t + i is token t with its i-th expert, and `weights` has a weight for each. `order`
// has the numbers of all slots, sorted by expert: those of expert e are order[offsets[e]] to order[offsets[e + 1] - 1].
// An expert may have none, one, or all of the tokens.
//
// Unfused, each step is a launch for each expert:
//     gather_rows           the expert's tokens, one after the other
//     gemm_few_rows_bf16    times w1
//     swiglu_bf16
//     gemm_few_rows_bf16    times w2
//     scatter_add           to the token's row of a buffer in f32, times the weight
// and two more: one fills that buffer with zeros, and one rounds it. With 64 experts these are up to 322 launches. Yours may be at most
// three, for any number of experts.
//
// Grade it with: cargo xtask grade moe_expert
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tile.cuh"

typedef __nv_bfloat16 bf16;

// TODO(kernels): three kernels. None of them needs the number of experts.
//   - `experts_up`: x, w1 -> `activated`, a row for each slot, in the order of `order`. So the rows of an expert are
//     neighbours, and the next kernel finds them easily.
//   - `experts_down`: `activated`, w2 -> `parts`, a row for each slot, at the slot's own number. So the two rows of a token
//     are neighbours, for any experts.
//   - `combine`: `parts`, weights -> out. A thread adds the two elements of a token, in f32, and rounds once.
//   - `multiply_tile` of tile.cuh multiplies up to 32 rows, which may lie anywhere, by two panels of 64 columns. A block of the
//     first two kernels has an expert, `blockIdx.y`, and some columns, `blockIdx.x`. It goes over the expert's rows, 32 at a
//     time, from `offsets[expert]` on. If the expert has no rows, the block has nothing to do.
//   - `each_pair` gives you the sums. If one panel has columns of gate, up to `inter`, and the other has the same columns of
//     up, then both are in the same lane: silu(gate) * up needs no other thread. `silu` is in activation.cuh.
//   - `packs` says whether all rows begin and end at multiples of 16 bytes. That depends on `hidden` and `inter`, and on where
//     the left factor and the weights begin: `aligned16` of pack.cuh checks that.
extern "C" __global__ void __launch_bounds__(128)
    experts_up(const bf16* x, const bf16* w1, const int* order, const int* offsets, bf16* activated, size_t hidden, size_t inter) {
}

extern "C" __global__ void __launch_bounds__(128)
    experts_down(const bf16* activated, const bf16* w2, const int* order, const int* offsets, float* parts, size_t hidden,
                 size_t inter) {
}

extern "C" __global__ void combine(const float* parts, const float* weights, bf16* out, size_t hidden) {
}
// END TODO
