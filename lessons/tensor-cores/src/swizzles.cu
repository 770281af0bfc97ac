// Which chunks of 16 bytes of shared memory `wgmma` takes for which: it is asked.
#include <cuda_bf16.h>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// ANCHOR: swizzle
// B has eight columns, of 16 terms for each product, and the terms of a column lie side by side
// in rows of `width` bytes. `mode` is the descriptor's number for that width. The first element
// of each chunk of memory is the chunk's number, and all others are zero. A has a one in row 0
// at term 0, and in row 1 at term 8: so row 0 of the sums has the numbers of the chunks that
// are taken for terms 0 to 7 of each column, and row 1 those for terms 8 to 15.
extern "C" __global__ void chunks(int width, int mode, unsigned* out) {
    __shared__ __align__(1024) __nv_bfloat16 memory[512];
    for (int i = threadIdx.x; i < 512; i += 128) {
        memory[i] = __float2bfloat16(i % 8 == 0 ? i / 8 : 0);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const unsigned begin = (unsigned)__cvta_generic_to_shared(memory);
    const unsigned one = 0x3f80;
    const unsigned a[4] = {threadIdx.x == 0 ? one : 0, 0, threadIdx.x == 4 ? one : 0, 0};
    // Two chunks for each product: the next ones begin 32 bytes on.
    for (int step = 0; step < width / 32; step++) {
        const unsigned long long start = (begin + 32 * step) / 16, apart = 8 * width / 16;
        const unsigned long long bits = mode;
        const unsigned long long descriptor = start | 1ull << 16 | apart << 32 | bits << 62;
        float d[4] = {};
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile(
            "{.reg .pred add; setp.ne.b32 add, 1, 0;\n\t"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, %8, add, 1, 1, 0;}"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        // Rows 0 and 1 of the sums are in the first eight lanes.
        if (threadIdx.x < 8) {
            const int chunk = 2 * step + threadIdx.x / 4, column = threadIdx.x % 4 * 2;
            for (int i = 0; i < 2; i++) out[(column + i) * width / 16 + chunk] = (unsigned)d[i];
        }
    }
}
// ANCHOR_END: swizzle
#endif
