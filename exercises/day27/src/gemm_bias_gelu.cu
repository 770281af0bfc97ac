// gemm_bias_gelu: d = gelu(a b + bias) + residual, all bf16 with sums and what follows them in f32, rounded once.
//
// a is `m` x `k`, b is `k` x `n`, residual and d are `m` x `n`, all row after row, and bias has `n` elements, one for
// each column. GELU is its tanh form.
//
// It fuses four launches: the product alone, the sum with the bias, GELU, and the sum with the residual. What the first
// three write, `m` x `n` elements each, is read again by the next.
//
// Grade it with: cargo xtask grade gemm_bias_gelu
#include <cuda_bf16.h>
#include "activation.cuh"
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int TILE = 128; // Rows and columns of d that a block computes.
const int DEPTH = 32; // Columns of a and rows of b that it holds at a time.

// Rows in shared memory are 16 bytes longer than what they hold: the eight rows of a small matrix then lie in different banks.
const int PAD = 8;

// The eight elements of a matrix from a row and column on, with zeros for those that it does not have.
// With PACKS they are sixteen bytes that one access can read, in all rows.
template <bool PACKS>
__device__ Pack<bf16> eight(const bf16* from, size_t row, size_t column, size_t rows, size_t columns) {
    Pack<bf16> found;
    if (PACKS) {
        const bool inside = row < rows && column < columns;
        found.bits = inside ? *(const uint4*)&from[row * columns + column] : make_uint4(0, 0, 0, 0);
    } else {
        for (int j = 0; j < 8; j++) {
            const bool inside = row < rows && column + j < columns;
            found.at[j] = inside ? from[row * columns + column + j] : bf16(0.0f);
        }
    }
    return found;
}

// TODO(kernel): your kernel of `gemm_tile`, with another end. `cargo xtask solution gemm_tile` shows the course's.
//   - Until the last step nothing changes: tiles, fragments and sums are those of `gemm_tile`, and so are THREADS, TILE
//     and DEPTH.
//   - Then every lane has its sums in registers, complete and in f32. Do the rest there: add the bias,
//     apply `gelu_fast` of activation.cuh, add the residual, and round once, when you write.
//   - The bias belongs to the column and the residual to the element. `gemm_tile` already knows the row and column of
//     a sum, because it writes the sum there.
//   - A lane has the same two columns in each of its rows: read the bias of a column once, outside of the loop over rows.
//   - Compare rows with m and columns with n before you read, and not only before you write: the last column of a pair
//     may be outside where n is odd.
//   - For speed, take accesses of sixteen bytes. A lane has pairs of neighbouring sums in eight rows. Exchange them within
//     the warp through shared memory, in f32: the tiles are free by then. After that a lane has eight neighbours of a row.
//   - Read the residual of all of a lane's rows before you use the first. No other thread reads it, so it need not stay
//     in the L2: use `__ldcs` to read and `__stcs` to write what is used once.
extern "C" __global__ void __launch_bounds__(256, 2)
    gemm_bias_gelu(const bf16* a, const bf16* b, const bf16* bias, const bf16* residual, bf16* d, size_t m, size_t n, size_t k) {
}
// END TODO
