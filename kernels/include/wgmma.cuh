// Products of matrices in shared memory by a warp group: four warps, of which the first one's
// number is a multiple of four. For sm_90a alone: no later architecture has these instructions.
//
// All threads of the group call these functions together.
#pragma once
#include <cuda_bf16.h>

// ANCHOR: group
// Orders the threads' accesses to registers before the products that follow. What threads have
// written to shared memory needs `show_to_copies` of tma.cuh as well.
__device__ __forceinline__ void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Makes one group of the products that were started since the last one.
__device__ __forceinline__ void commit_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits for all groups of products except the last LEFT. Until a group has ended, no thread may
// touch its sums, or overwrite its factors.
template <int LEFT>
__device__ __forceinline__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(LEFT) : "memory");
}
// ANCHOR_END: group

// Two neighbouring elements of a fragment.
__device__ __forceinline__ unsigned rounded_pair(float one, float two) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&both;
}

// A barrier of the 128 threads of a warp group. Number 0 is that of `__syncthreads`.
__device__ __forceinline__ void group_sync(int group) {
    asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
}

// ANCHOR: descriptor
// Where a factor lies: in rows of 128 bytes, swizzled, eight of which are 1024 bytes. `beside`
// is the bytes from 64 columns to the next 64. It is not used if a row is along k.
__device__ __forceinline__ unsigned long long descriptor(const void* factor, unsigned beside) {
    // The field has 14 bits, for the address in the block's own memory. In a cluster, the bits
    // above them hold the block's rank.
    const unsigned long long at = (__cvta_generic_to_shared(factor) & 0x3ffff) / 16;
    const unsigned long long eight_rows = 1024 / 16, swizzled_by_128 = 1;
    return at | (unsigned long long)(beside / 16) << 16 | eight_rows << 32 |
           swizzled_by_128 << 62;
}
// ANCHOR_END: descriptor

#define SUMS4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS16(i) SUMS4(i), SUMS4(i + 4), SUMS4(i + 8), SUMS4(i + 12)

// ANCHOR: multiply
// Starts sums += a b, or sums = a b where it does not add: a is 64 x 16 with rows along k, b is
// 16 x 256 with rows across k. Warp w of the group has rows 16 w to 16 w + 15 of the sums; in
// sums[8 j] to sums[8 j + 7], lane l has of these rows
//   columns 16 j + 2 (l % 4) and the next one: of row l / 4, then of row l / 4 + 8,
//   columns 16 j + 8 + 2 (l % 4) and the next one: of the same two rows.
__device__ __forceinline__ void multiply(float (&sums)[128], unsigned long long a,
                                         unsigned long long b, bool add) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, %130, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        " %96, %97, %98, %99, %100, %101, %102, %103, "
        " %104, %105, %106, %107, %108, %109, %110, %111, "
        " %112, %113, %114, %115, %116, %117, %118, %119, "
        " %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, add, 1, 1, 0, 1;}"
        : SUMS16(0), SUMS16(16), SUMS16(32), SUMS16(48), SUMS16(64), SUMS16(80), SUMS16(96),
          SUMS16(112)
        : "l"(a), "l"(b), "r"((unsigned)add));
}
// ANCHOR_END: multiply

// ANCHOR: transposed
// Starts sums += a b^T, or sums = a b^T: b is 128 x 16 with rows along k, like a. Lanes have of
// the sums what they have above.
__device__ __forceinline__ void multiply_transposed(float (&sums)[64], unsigned long long a,
                                                    unsigned long long b, bool add) {
    asm volatile(
        "{.reg .pred add; setp.ne.b32 add, %66, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, add, 1, 1, 0, 0;}"
        : SUMS16(0), SUMS16(16), SUMS16(32), SUMS16(48)
        : "l"(a), "l"(b), "r"((unsigned)add));
}
// ANCHOR_END: transposed

// ANCHOR: fragments
// Starts sums += a b, where b is 16 x 64 or 16 x 128 with rows across k. Of a, warp w has rows
// 16 w to 16 w + 15 in registers, as fragments for `mma.sync` are: a[0] has rows 0 to 7 and
// columns 0 to 7 of them, a[1] rows 8 to 15 of the same columns, a[2] and a[3] the same of
// columns 8 to 15. Lane l has elements 2 (l % 4) and the next one of row l / 4 in each.
__device__ __forceinline__ void multiply(float (&sums)[32], const unsigned (&a)[4],
                                         unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
        : SUMS16(0), SUMS16(16)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void multiply(float (&sums)[64], const unsigned (&a)[4],
                                         unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
        : SUMS16(0), SUMS16(16), SUMS16(32), SUMS16(48)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
// ANCHOR_END: fragments

// ANCHOR: pin
// The compiler moves no use of these registers to the other side of this. It does not know that
// products read and write them from their start to the wait for them.
template <int COUNT>
__device__ __forceinline__ void pin(float (&sums)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) asm volatile("" : "+f"(sums[i])::"memory");
}
template <int COUNT>
__device__ __forceinline__ void pin(unsigned (&fragments)[COUNT][4]) {
#pragma unroll
    for (int i = 0; i < 4 * COUNT; i++)
        asm volatile("" : "+r"(fragments[i / 4][i % 4])::"memory");
}
// ANCHOR_END: pin

// ANCHOR: registers
// Gives registers back, or waits for some, so that each thread of the group has COUNT of them.
template <int COUNT>
__device__ __forceinline__ void keep_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(COUNT));
}
template <int COUNT>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(COUNT));
}
// ANCHOR_END: registers
