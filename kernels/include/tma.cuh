// Copies of boxes between a matrix in global memory and shared memory, by the tensor memory
// accelerator. One thread starts a copy and goes on. From sm_90 up.
#pragma once
#include <cuda_bf16.h>

#include "mbarrier.cuh"

// ANCHOR: box
// What a copy moves: rows of 64 elements, which are 128 bytes. Swizzled, the packs of 16 bytes are
// in another order in each row.
template <int ROWS>
struct Box {
    __nv_bfloat16 rows[ROWS][64];

    __device__ __forceinline__ void* pack(int row, int number) {
        return &rows[row][(number ^ row % 8) * 8];
    }
};
// ANCHOR_END: box

// ANCHOR: tma
// Says where a matrix lies, how large its boxes are and how they lie in shared memory. The host
// makes it by cuTensorMapEncodeTiled. As a kernel's parameter it is a `__grid_constant__`.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

// Starts copying the box that begins at this column and row. Elements outside of the matrix
// become zeros. `done` counts the bytes of the whole box. If boxes are swizzled by 128, `box`
// must begin at a multiple of 1024 bytes.
__device__ __forceinline__ void load_box(void* box, const TensorMap& matrix, unsigned column,
                                         unsigned row, Mbarrier& done) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :: "r"((unsigned)__cvta_generic_to_shared(box)), "l"(&matrix), "r"(column),
                    "r"(row), "r"(done.at())
                 : "memory");
}

// Makes what this thread has written to shared memory visible to copies that start later: by
// this thread, or by another one after a barrier.
__device__ __forceinline__ void show_to_copies() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Starts copying a box into the matrix, as a group of its own, without elements outside of it.
__device__ __forceinline__ void store_box(const TensorMap& matrix, unsigned column,
                                          unsigned row, const void* box) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&matrix), "r"(column), "r"(row),
                    "r"((unsigned)__cvta_generic_to_shared(box))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all boxes that this thread has stored, except the last LEFT, have been read from
// shared memory.
template <int LEFT>
__device__ __forceinline__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(LEFT) : "memory");
}
// ANCHOR_END: tma

// ANCHOR: many
// The same for many matrices of one shape, one after the other: boxes of matrix `number`. Rows
// after its last one are outside: they are not those of the next matrix.
__device__ __forceinline__ void load_box(void* box, const TensorMap& matrices, unsigned column,
                                         unsigned row, unsigned number, Mbarrier& done) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 :: "r"((unsigned)__cvta_generic_to_shared(box)), "l"(&matrices), "r"(column),
                    "r"(row), "r"(number), "r"(done.at())
                 : "memory");
}
__device__ __forceinline__ void store_box(const TensorMap& matrices, unsigned column,
                                          unsigned row, unsigned number, const void* box) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group "
                 "[%0, {%1, %2, %3}], [%4];"
                 :: "l"(&matrices), "r"(column), "r"(row), "r"(number),
                    "r"((unsigned)__cvta_generic_to_shared(box))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// ANCHOR_END: many
