// gemm_tile: c = a b, all bf16 with sums in f32.
//
// a is `m` x `k`, b is `k` x `n`, c is `m` x `n`, all row after row: c[i, j] is the sum of a[i, l] * b[l, j] over l.
//
// It starts from one launch without tensor cores, `gemm_bf16`. Nothing is fused here: each element of a and b serves many sums, and
// what counts is how often it is fetched, and who multiplies.
//
// Grade it with: cargo xtask grade gemm_tile
#include <cuda_bf16.h>
#include "pack.cuh"
#include "tensor.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int TILE = 128; // Rows and columns of c that a block computes.
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

// TODO(kernel): one block of THREADS threads per tile of TILE x TILE elements of c.
//   - `__shared__ __align__(16) bf16 tile_a[TILE][DEPTH + PAD];` holds what the block needs of a at a time, and
//     `tile_b[DEPTH][TILE + PAD]` what it needs of b. The tile of c begins at row blockIdx.x * TILE and column blockIdx.y * TILE,
//     in `size_t`.
//   - A loop goes over k in steps of DEPTH. Each thread writes two packs of `eight` elements into each tile. Then comes
//     `__syncthreads()`, and after the products a second one, before the tiles are written again.
//   - There are eight warps. Let each have 64 x 32 of the sums: `float sums[4][4][4] = {};` is 4 x 4 fragments of 16 x 8, of which
//     each lane has four sums.
//   - `load_matrices` gives a fragment of 16 x 16 of a, and `load_matrices_transposed` two of 16 x 8 of b. `multiply` adds the
//     product of one fragment of a and one of b. tensor.cuh says which lane has what.
//   - At the end each lane writes its sums, with `__float2bfloat16`. Compare rows with m and columns with n before.
//   - For speed: load the next packs into registers before the products, and write them into the tiles after.
//     `eight<true>` needs rows that begin at a multiple of 16 bytes, in both factors. Check that once, outside of
//     the loop, and put the loop into a `template <bool PACKS>` function. With an `if` at each access, each load
//     waits for the one before it.
extern "C" __global__ void __launch_bounds__(256, 2) gemm_tile(const bf16* a, const bf16* b, bf16* c, size_t m, size_t n,
                                                                   size_t k) {
}
// END TODO
