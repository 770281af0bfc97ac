// Sixteen bytes of elements, which a thread reads or writes with one access, and their conversion to f32 and back.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ANCHOR: pack
template <typename T>
struct Pack {
    static const int SIZE = 16 / sizeof(T);
    union {
        uint4 bits;
        T at[SIZE];
    };
};
// ANCHOR_END: pack

// Whether 16-byte accesses are possible through all of these pointers.
template <typename... T>
__device__ __forceinline__ bool aligned16(const T*... pointers) {
    return (((size_t)pointers | ...) & 15) == 0;
}

// ANCHOR: access
// Reads and writes pack number `index`. Plain accesses: on an H200 the streaming hints
// (__ldcs, L1::no_allocate) cost about 5% of the bandwidth.
template <typename T>
__device__ __forceinline__ Pack<T> load_pack(const T* data, size_t index) {
    Pack<T> pack;
    pack.bits = ((const uint4*)data)[index];
    return pack;
}

// The same for data that nothing writes while the kernel runs. The compiler may then load it before a barrier.
template <typename T>
__device__ __forceinline__ Pack<T> load_pack_constant(const T* data, size_t index) {
    Pack<T> pack;
    pack.bits = __ldg((const uint4*)data + index);
    return pack;
}

template <typename T>
__device__ __forceinline__ void store_pack(T* data, size_t index, const Pack<T>& pack) {
    ((uint4*)data)[index] = pack.bits;
}
// ANCHOR_END: access

// Reads pack number `index`, if it is wanted, of data that nobody writes while the kernel runs, and asks the L2 to evict its
// line after others: after those of what the kernel writes, which so leave for DRAM early and steadily. No byte less is moved,
// but an H200 is done with rows of f32 some percent sooner; the book's Day 24 has figures. From sm_80 up; PTX ISA,
// "createpolicy" and "ld.global.nc". The predicate stands in the assembly because the compiler makes a branch of an `if` around it.
template <typename T>
__device__ __forceinline__ void load_pack_kept(Pack<T>& pack, const T* data, size_t index, bool wanted) {
#if __CUDA_ARCH__ >= 800
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm("{ .reg .pred wanted; setp.ne.u32 wanted, %6, 0;\n\t"
        "@wanted ld.global.nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5; }"
        : "=r"(pack.bits.x), "=r"(pack.bits.y), "=r"(pack.bits.z), "=r"(pack.bits.w)
        : "l"((const uint4*)data + index), "l"(policy), "r"((unsigned)wanted));
#else
    if (wanted) pack.bits = __ldg((const uint4*)data + index);
#endif
}

__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }
__device__ __forceinline__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

// Rounds to the nearest, ties to even.
template <typename T>
__device__ __forceinline__ T from_float(float value);
template <>
__device__ __forceinline__ float from_float<float>(float value) { return value; }
template <>
__device__ __forceinline__ __half from_float<__half>(float value) { return __float2half_rn(value); }
template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float value) { return __float2bfloat16_rn(value); }

// ANCHOR: convert
// Each conversion converts two elements, so half as many instructions are needed.
__device__ __forceinline__ float2 to_float2(const Pack<float>& pack, int pair) {
    return make_float2(pack.at[2 * pair], pack.at[2 * pair + 1]);
}
__device__ __forceinline__ float2 to_float2(const Pack<__half>& pack, int pair) {
    return __half22float2(((const __half2*)&pack)[pair]);
}
__device__ __forceinline__ float2 to_float2(const Pack<__nv_bfloat16>& pack, int pair) {
    return __bfloat1622float2(((const __nv_bfloat162*)&pack)[pair]);
}

__device__ __forceinline__ void set_float2(Pack<float>& pack, int pair, float2 values) {
    pack.at[2 * pair] = values.x;
    pack.at[2 * pair + 1] = values.y;
}
__device__ __forceinline__ void set_float2(Pack<__half>& pack, int pair, float2 values) {
    ((__half2*)&pack)[pair] = __float22half2_rn(values);
}
__device__ __forceinline__ void set_float2(Pack<__nv_bfloat16>& pack, int pair, float2 values) {
    ((__nv_bfloat162*)&pack)[pair] = __float22bfloat162_rn(values);
}
// ANCHOR_END: convert

// ANCHOR: map
// f of every element of a pack, or of the elements of several packs at the same place.
template <typename F, typename T, typename... Packs>
__device__ __forceinline__ Pack<T> map(F f, const Pack<T>& first, const Packs&... others) {
    Pack<T> result;
#pragma unroll
    for (int pair = 0; pair < Pack<T>::SIZE / 2; pair++) {
        const float2 left_right = to_float2(first, pair);
        set_float2(result, pair, make_float2(f(left_right.x, to_float2(others, pair).x...),
                                             f(left_right.y, to_float2(others, pair).y...)));
    }
    return result;
}

// Begins with `start`, and replaces the result by f(result, element) for each element of a pack.
template <typename F, typename T>
__device__ __forceinline__ float fold(float start, const Pack<T>& pack, F f) {
#pragma unroll
    for (int pair = 0; pair < Pack<T>::SIZE / 2; pair++) {
        const float2 values = to_float2(pack, pair);
        start = f(f(start, values.x), values.y);
    }
    return start;
}
// ANCHOR_END: map
