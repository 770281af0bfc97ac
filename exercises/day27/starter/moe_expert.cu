// moe_expert: a layer of a mixture of experts, in bf16 with sums in f32. Of all experts, two work on each token:
//     out[t] = the sum over the two of  weight * (swiglu(x[t] w1[expert]) w2[expert])
//     swiglu of a row (gate, up) = silu(gate) * up,    silu(z) = z / (1 + exp(-z))
//
// x and out have `tokens` rows of `hidden` elements. Expert e has `hidden` rows of `2 * inter` elements in w1: a row has
// `inter` columns of the gate, and then as many of what it lets through. It has `inter` rows of `hidden` elements in w2.
//
// A slot is a token with one of its experts: slot 2 t + i is token t with its i-th expert, and `weights` has a weight for each. `order`
// has all slots sorted by expert: those of expert e are order[offsets[e]] up to, but not with, order[offsets[e + 1]].
// An expert may have none, one, or all of the tokens.
//
// Unfused, each step is a launch for each expert:
//     gather_rows           the expert's tokens, behind each other
//     gemm_few_rows_bf16    times w1
//     swiglu_bf16
//     gemm_few_rows_bf16    times w2
//     scatter_add           to the token's row of a buffer in f32, times the weight
// and beside these, one that fills that buffer with zeros and one that rounds it. With 64 experts these are up to 322 launches. At most
// three pass, however many experts there are.
//
// Grade it with: cargo xtask grade moe_expert
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tile.cuh"

typedef __nv_bfloat16 bf16;

// TODO(kernels): three kernels, none of which knows how many experts there are.
//   - `experts_up`: x, w1 -> `activated`, a row for each slot, in the order of `order`. Then the rows of an expert are
//     neighbours, and the next kernel need not look for them.
//   - `experts_down`: `activated`, w2 -> `parts`, a row for each slot, at the slot's own number. Then the rows of a token are
//     neighbours, whatever its experts are.
//   - `combine`: `parts`, weights -> out. A thread adds the two elements of a token, in f32, and rounds once.
//   - `multiply_tile` of tile.cuh multiplies up to 32 rows, which may lie anywhere, with two panels of 64 columns. A block of the
//     first two kernels has an expert, `blockIdx.y`, and some columns, `blockIdx.x`. It goes over the expert's rows, 32 at a
//     time, from `offsets[expert]` on. An expert without rows has nothing to do.
//   - `each_pair` gives you the sums. If one panel has gates and the other has what they let through, then both are in
//     the same lane: silu(gate) * up needs no other thread. `silu` is in activation.cuh.
//   - `packs` asks whether all rows begin and end at multiples of 16 bytes: that hangs on `hidden` and `inter`, and on where x
//     and the weights begin, which `aligned16` of pack.cuh tells.
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
