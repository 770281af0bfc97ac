// Tensor cores by their PTX instructions: fragments from shared memory, and products of them.
// From sm_80 up.
//
// A fragment is a small matrix that the 32 lanes of a warp hold together. All lanes call these
// functions together.
#pragma once
#include <cuda_bf16.h>

// ANCHOR: load
// Loads four matrices of 8 x 8 elements of 16 bits. Lane l names, in shared memory, the 16
// bytes of row l % 8 of matrix l / 8. Lane l then holds, of matrix i, the elements 2 (l % 4)
// and 2 (l % 4) + 1 of row l / 4 in fragment[i].
__device__ __forceinline__ void load_matrices(unsigned (&fragment)[4], const void* row) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                 : "r"(at)
                 : "memory");
}

// The same with each matrix turned over: lane l holds the elements 2 (l % 4) and 2 (l % 4) + 1
// of column l / 4.
__device__ __forceinline__ void load_matrices_transposed(unsigned (&fragment)[4],
                                                         const void* row) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
                 : "r"(at)
                 : "memory");
}
// ANCHOR_END: load

// ANCHOR: store
// The other way: stores four matrices, which lie in lanes as above. From sm_90 up.
__device__ __forceinline__ void store_matrices(void* row, const unsigned (&fragment)[4]) {
    const unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :: "r"(at), "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]),
                    "r"(fragment[3])
                 : "memory");
}
// ANCHOR_END: store

// ANCHOR: multiply
// sums += a b: a is 16 x 16, b is 16 x 8, sums are 16 x 8 in f32.
//   a[0] has rows 0 to 7 and columns 0 to 7 of a, a[1] rows 8 to 15 of the same columns, a[2]
//   and a[3] the same of columns 8 to 15.
//   b0 has rows 0 to 7 of b, b1 rows 8 to 15, each turned over.
//   Lane l has, of sums, columns 2 (l % 4) and 2 (l % 4) + 1: of row l / 4 in sums[0] and
//   sums[1], of row l / 4 + 8 in the others.
__device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// ANCHOR_END: multiply
