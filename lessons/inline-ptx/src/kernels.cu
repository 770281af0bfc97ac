// Five tasks, each in plain CUDA C++ and with inline PTX. A block has one warp, and each kernel
// does its task on what the lane's number says.
#include <cuda_bf16.h>

// ANCHOR: convert
// Two floats as one word of two bf16, rounded to nearest even.
__device__ unsigned convert_words(float low, float high) {
    const unsigned short l = __bfloat16_as_ushort(__float2bfloat16(low));
    const unsigned short h = __bfloat16_as_ushort(__float2bfloat16(high));
    return l | (unsigned)h << 16;
}

__device__ unsigned convert_words_inline(float low, float high) {
    unsigned both;
    // The upper half is the first operand.
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
// ANCHOR_END: convert

extern "C" __global__ void convert(const float2* in, unsigned* out) {
    out[threadIdx.x] = convert_words(in[threadIdx.x].x, in[threadIdx.x].y);
}

extern "C" __global__ void convert_inline(const float2* in, unsigned* out) {
    out[threadIdx.x] = convert_words_inline(in[threadIdx.x].x, in[threadIdx.x].y);
}

// ANCHOR: widen
// The first two of four int8 as two bf16, which has every number of int8.
__device__ unsigned widen_bytes(unsigned four) {
    const __nv_bfloat162 two =
        __floats2bfloat162_rn((signed char)four, (signed char)(four >> 8));
    return *(const unsigned*)&two;
}

__device__ unsigned widen_bytes_inline(unsigned four) {
    unsigned spread, value, offset, both;
    // Byte 0 to the lower half and byte 1 to the upper one; byte 4 is one of the zeros.
    asm("prmt.b32 %0, %1, 0, 0x4140;" : "=r"(spread) : "r"(four));
    // (a & b) | c is 0xea: seven bits behind the sign and exponent of 128, so 128 + x.
    asm("lop3.b32 %0, %1, 0x007f007f, 0x43004300, 0xea;" : "=r"(value) : "r"(spread));
    // The byte's sign is the exponent's last bit: 128, or 256 if the number is negative.
    asm("lop3.b32 %0, %1, 0x00800080, 0x43004300, 0xea;" : "=r"(offset) : "r"(spread));
    asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(both) : "r"(value), "r"(offset));
    return both;
}
// ANCHOR_END: widen

extern "C" __global__ void widen(const unsigned* in, unsigned* out) {
    out[threadIdx.x] = widen_bytes(in[threadIdx.x]);
}

extern "C" __global__ void widen_inline(const unsigned* in, unsigned* out) {
    out[threadIdx.x] = widen_bytes_inline(in[threadIdx.x]);
}

// ANCHOR: scan
// The sum of the lanes up to this one.
__device__ float scan_lanes(float sum) {
    for (int distance = 1; distance < 32; distance *= 2) {
        const float other = __shfl_up_sync(0xffffffff, sum, distance);
        if (threadIdx.x % 32 >= distance) sum += other;
    }
    return sum;
}

__device__ float scan_lanes_inline(float sum) {
    for (int distance = 1; distance < 32; distance *= 2) {
        // The instruction says itself whether there is such a lane. The braces keep the names
        // of its registers from those of the next step.
        asm volatile(
            "{ .reg .pred there; .reg .f32 other;\n\t"
            "shfl.sync.up.b32 other|there, %0, %1, 0, 0xffffffff;\n\t"
            "@there add.f32 %0, %0, other; }"
            : "+f"(sum)
            : "r"(distance));
    }
    return sum;
}
// ANCHOR_END: scan

extern "C" __global__ void scan(const float* in, float* out) {
    out[threadIdx.x] = scan_lanes(in[threadIdx.x]);
}

extern "C" __global__ void scan_inline(const float* in, float* out) {
    out[threadIdx.x] = scan_lanes_inline(in[threadIdx.x]);
}

// ANCHOR: stream
// Four floats that are not read again: L1 need not keep them.
__device__ float4 load_once(const float4* from) {
    float4 found;
    asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(found.x), "=f"(found.y), "=f"(found.z), "=f"(found.w)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return found;
}
// ANCHOR_END: stream

extern "C" __global__ void stream(const float4* in, float4* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void stream_inline(const float4* in, float4* out) {
    out[threadIdx.x] = load_once(&in[threadIdx.x]);
}

// ANCHOR: multiply
// c = a b: 16 x 8 sums of 16 terms, of which a lane has four.
extern "C" __global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
    const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    for (int i = 0; i < 4; i++) {
        const int r = row + i / 2 * 8, j = column + i % 2;
        float sum = 0.0f;
        for (int l = 0; l < 16; l++)
            sum += __bfloat162float(a[r * 16 + l]) * __bfloat162float(b[l * 8 + j]);
        c[r * 8 + j] = sum;
    }
}

extern "C" __global__ void multiply_inline(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                           float* c) {
    const int group = threadIdx.x / 4, member = threadIdx.x % 4 * 2;
    unsigned of_a[4], of_b[2];
    for (int i = 0; i < 4; i++)
        of_a[i] = *(const unsigned*)&a[(group + i % 2 * 8) * 16 + member + i / 2 * 8];
    for (int i = 0; i < 2; i++) {
        const __nv_bfloat16* two = &b[(member + i * 8) * 8 + group];
        of_b[i] = __bfloat16_as_ushort(two[0]) | (unsigned)__bfloat16_as_ushort(two[8]) << 16;
    }
    float sums[4] = {};
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]));
    for (int i = 0; i < 4; i++) c[(group + i / 2 * 8) * 8 + member + i % 2] = sums[i];
}
// ANCHOR_END: multiply
