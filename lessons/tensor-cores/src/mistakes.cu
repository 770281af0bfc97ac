// A product of 16 x 16 by 16 x 8 with one mistake. Each of them compiles, and no access is
// outside of a buffer.
#include <cuda_bf16.h>

enum Mistake { NONE, EXCHANGED, QUARTERS, PITCH, LANES, REGISTERS };

__device__ unsigned shared_address(const void* at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

// ANCHOR: product
template <Mistake MISTAKE>
__device__ void product(const int* a, const int* b, float* c) {
    const int PITCH_OF_A = 24;
    __shared__ __align__(16) __nv_bfloat16 left[16][PITCH_OF_A], right[16][8];
    const int lane = threadIdx.x;
    for (int i = lane; i < 16 * PITCH_OF_A; i += 32) {
        const int row = i / PITCH_OF_A, column = i % PITCH_OF_A;
        left[row][column] = __float2bfloat16(column < 16 ? a[row * 16 + column] : 0);
    }
    for (int i = lane; i < 128; i += 32) right[i / 8][i % 8] = __float2bfloat16(b[i]);
    __syncwarp();

    // Rows of `left` are 24 elements apart.
    const int pitch = MISTAKE == PITCH ? 16 : PITCH_OF_A;
    // Matrices 0 to 3: rows 0 to 7, rows 8 to 15, and the same of columns 8 to 15.
    int row = lane % 16, column = lane / 16 * 8;
    if (MISTAKE == QUARTERS) row = lane / 16 * 8 + lane % 8, column = lane / 8 % 2 * 8;
    unsigned fa[4], fb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(shared_address(&left[0][0] + row * pitch + column)) : "memory");
    // Two elements of a register of B are of one column, and memory has rows: turned over.
    if (MISTAKE == EXCHANGED) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(shared_address(right[lane % 16])) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(shared_address(right[lane % 16])) : "memory");
    }
    float sums[4] = {};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));

    int group = lane / 4, member = lane % 4;
    if (MISTAKE == LANES) group = lane % 8, member = lane / 8;
    for (int i = 0; i < 4; i++) {
        const int down = MISTAKE == REGISTERS ? i % 2 : i / 2;
        const int right = MISTAKE == REGISTERS ? i / 2 : i % 2;
        c[(group + 8 * down) * 8 + 2 * member + right] = sums[i];
    }
}
// ANCHOR_END: product

#define KERNEL(NAME, MISTAKE)                                                                 \
    extern "C" __global__ void NAME(const int* a, const int* b, float* c) {                   \
        product<MISTAKE>(a, b, c);                                                            \
    }
KERNEL(right, NONE)
KERNEL(exchanged, EXCHANGED)
KERNEL(quarters, QUARTERS)
KERNEL(pitch, PITCH)
KERNEL(lanes, LANES)
KERNEL(registers, REGISTERS)
