// Gates, casts, weights in few bits, and optimizer steps: single passes over the elements, each as another repository writes them.
// by others
// sweep: hidden = 2816 11008; rows = 16 512 4096; block = 256
// launch: swiglu_half2<<<({ceil(hidden, 2 * block)},{rows}), {block}>>>(gate_up: f16[{2 * rows * hidden}], out: f16[{rows * hidden}] uninit, half_hidden: i32 = {hidden / 2})
// sweep: kind = 0 1 2; n = 100003 2^25; block = 256
// launch: gelu_by_kind<<<{min(ceil(n, block), 132 * 16)}, {block}>>>(in: f32[{n}], out: f32[{n}] uninit, kind: i32 = {kind}, n: i64 = {n})
// sweep: columns = 1024 5120; rows = 64 1024 8192; block = 256
// launch: bias_dropout_residual<<<{min(ceil(rows * columns, 4 * block), 132 * 8)}, {block}>>>(x: f32[{rows * columns}], bias: f32[{columns}], residual: f32[{rows * columns}], y: f32[{rows * columns}] uninit, kept: u8[{rows * columns}] uninit, p: f32 = 0.1, seed: u32 = 1234, row: i32 = {columns / 4}, packs: i32 = {rows * columns / 4})
// sweep: channels = 500 4096 16384; columns = 1024 4096
// launch: dequant_fp8_channels<<<{ceil(channels, 8)}, (32,8)>>>(weight: u8[{channels * columns}], scales: f32[{channels}], out: f16[{channels * columns}] uninit, channels: i32 = {channels}, columns: i32 = {columns})
// sweep: n = 2^17 4096*4096 4096*14336; block = 128 512
// launch: unpack_int4_groups<<<{ceil(n / 8, block)}, {block}>>>(packed: u32[{n / 8}], scales: f16[{n / 128}], zeros: u8[{n / 128}], out: f16[{n}] uninit, words: u32 = {n / 8})
// sweep: n = 100003 2^21 2^25+17; block = 128 512
// launch: quantize_count_clipped<<<{ceil(n, 4 * block)}, {block}>>>(x: f32[{n}], q: u8[{n}] uninit, scale: f32[1] all 0.02, zero_point: i32 = 128, clipped: u32[1] zero, n: u64 = {n})
// sweep: n = 50000 2^20 2^22 2^25; block = 256
// launch: sgd_nesterov_ema<<<{ceil(n, block)}, {block}>>>(w: f32[{n}], g: f16[{n}], m: f32[{n}] zero, ema: f32[{n}], s: value f32[4], keep: f32 = 0.999, n: i32 = {n})
// sweep: batch = 1 4; heads = 12; tokens = 128 512 1536; block = 256
// launch: masked_fill_heads<<<{ceil(batch * heads * tokens * tokens, block)}, {block}>>>(scores: f16[{batch * heads * tokens * tokens}], mask: u32[{batch * tokens / 32}], out: f16[{batch * heads * tokens * tokens}] uninit, fill: f16 = -65504, per_batch: i32 = {heads * tokens * tokens}, keys: i32 = {tokens}, total: i32 = {batch * heads * tokens * tokens})
// sweep: n = 70001 2^22+3 2^26; block = 256
// launch: cast_bf16_stochastic<<<{ceil(n, 8 * block)}, {block}>>>(x: f32[{n}], y: bf16[{n}] uninit, seed: u32 = 99, n: i32 = {n})
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// A row holds the gate first and then the up projection.
extern "C" __global__ void swiglu_half2(const __half2* __restrict__ gate_up, __half2* out, int half_hidden) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= half_hidden) return;
    const __half2* row = gate_up + (size_t)blockIdx.y * 2 * half_hidden;
    const __half2 g = row[col], u = row[col + half_hidden], one = __float2half2_rn(1.0f);
    const __half2 sigmoid = h2rcp(__hadd2(one, h2exp(__hneg2(g))));
    out[(size_t)blockIdx.y * half_hidden + col] = __hmul2(__hmul2(g, sigmoid), u);
}

enum Gelu { GELU_TANH = 0, GELU_ERF = 1, GELU_QUICK = 2 };

template <typename T>
__device__ __forceinline__ T gelu_of(T x, int kind) {
    switch (kind) {
        case GELU_TANH: {
            T cube = x * x * x;
            return T(0.5) * x * (T(1) + tanhf(T(0.79788456) * (x + T(0.044715) * cube)));
        }
        case GELU_ERF: return x * normcdff(x);
        case GELU_QUICK: return __fdividef(x, T(1) + __expf(T(-1.702) * x));
        default: return x;
    }
}
extern "C" __global__ void gelu_by_kind(const float* __restrict__ in, float* __restrict__ out, int kind, long long n) {
    const long long step = (long long)gridDim.x * blockDim.x;
#pragma unroll 4
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        out[i] = gelu_of<float>(__ldg(in + i), kind);
    }
}

// Philox with seven rounds: four random words per element pack.
__device__ uint4 philox_7(uint2 key, uint4 c) {
#pragma unroll
    for (int round = 0; round < 7; ++round) {
        unsigned hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
        unsigned hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
        c = make_uint4(hi1 ^ c.y ^ key.x, lo1, hi0 ^ c.w ^ key.y, lo0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}
extern "C" __global__ void bias_dropout_residual(const float4* x, const float4* bias, const float4* residual, float4* y,
                                                 uchar4* kept, float p, unsigned seed, int row, int packs) {
    const float grow = 1.0f / (1.0f - p);
    const unsigned limit = (unsigned)(p * 4294967295.0f);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < packs; i += gridDim.x * blockDim.x) {
        uint4 r = philox_7(make_uint2(seed, 0), make_uint4(i, 0, 0, 0));
        uchar4 k = make_uchar4(r.x > limit, r.y > limit, r.z > limit, r.w > limit);
        float4 v = x[i], b = bias[i % row], add = residual[i];
        v.x = add.x + (v.x + b.x) * grow * k.x;
        v.y = add.y + (v.y + b.y) * grow * k.y;
        v.z = add.z + (v.z + b.z) * grow * k.z;
        v.w = add.w + (v.w + b.w) * grow * k.w;
        y[i] = v;
        kept[i] = k;
    }
}

extern "C" __global__ void dequant_fp8_channels(const __nv_fp8x4_e4m3* weight, const float* scales, __half2* out,
                                                int channels, int columns) {
    int channel = blockIdx.x * blockDim.y + threadIdx.y;
    if (channel >= channels) return;
    float scale = scales[channel];
    size_t start = (size_t)channel * (columns / 4);
    for (int c = threadIdx.x; c < columns / 4; c += 32) {
        float4 v = static_cast<float4>(weight[start + c]);
        out[2 * (start + c)] = __floats2half2_rn(v.x * scale, v.y * scale);
        out[2 * (start + c) + 1] = __floats2half2_rn(v.z * scale, v.w * scale);
    }
}

// Nibbles become the last bits of halves at 1024, as fast weight-only kernels do it; 128 weights share scale and zero point.
extern "C" __global__ void unpack_int4_groups(const unsigned* __restrict__ packed, const __half* __restrict__ scales,
                                              const unsigned char* __restrict__ zeros, uint4* out, unsigned words) {
    unsigned w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= words) return;
    unsigned q = packed[w], group = w / 16;
    __half2 scale = __half2half2(scales[group]), zero = __half2half2(__int2half_rn(1024 + (zeros[group] & 15)));
    union { uint4 bits; unsigned word[4]; __half2 pair[4]; } o;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        o.word[k] = (q >> (4 * k) & 0x000f000fu) | 0x64006400u;
        o.pair[k] = __hmul2(__hsub2(o.pair[k], zero), scale);
    }
    out[w] = o.bits;
}

extern "C" __global__ void quantize_count_clipped(const float* x, unsigned char* q, const float* scale, int zero_point,
                                                  unsigned* clipped, size_t n) {
    const size_t first = (size_t)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    const float inverse = 1.0f / *scale;
    unsigned count = 0;
    for (int k = 0; k < 4; k++) {
        const size_t i = first + (size_t)k * blockDim.x;
        if (i >= n) break;
        const int whole = __float2int_rn(x[i] * inverse) + zero_point, inside = min(max(whole, 0), 255);
        count += whole != inside;
        q[i] = (unsigned char)inside;
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (threadIdx.x % 32 == 0 && count > 0) atomicAdd(clipped, count);
}

struct Sgd { float decay, momentum, rate, clip; };
extern "C" __global__ void sgd_nesterov_ema(float* w, const __half* g, float* m, float* ema, Sgd s, float keep, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float grad = fminf(fmaxf(__half2float(g[i]), -s.clip), s.clip) + s.decay * w[i];
    m[i] = s.momentum * m[i] + grad;
    w[i] -= s.rate * (grad + s.momentum * m[i]);
    ema[i] = keep * ema[i] + (1.0f - keep) * w[i];
}

// The mask has a bit per key, the same for all heads and queries of a batch.
extern "C" __global__ void masked_fill_heads(const __half* scores, const unsigned* mask, __half* out, __half fill,
                                             int per_batch, int keys, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int bit = i / per_batch * keys + i % keys;
    out[i] = (mask[bit >> 5] >> (bit & 31)) & 1 ? scores[i] : fill;
}

__device__ __forceinline__ unsigned short round_by_chance(float v, unsigned index, unsigned seed) {
    unsigned h = (index ^ seed) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (unsigned short)((__float_as_uint(v) + (h >> 16)) >> 16);
}
extern "C" __global__ void cast_bf16_stochastic(const float* __restrict__ x, unsigned short* y, unsigned seed, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i + 8 <= n) {
        union { float4 packs[2]; float v[8]; } in;
        union { uint4 pack; unsigned short v[8]; } o;
        in.packs[0] = *(const float4*)(x + i);
        in.packs[1] = *(const float4*)(x + i + 4);
#pragma unroll
        for (int k = 0; k < 8; k++) o.v[k] = round_by_chance(in.v[k], i + k, seed);
        *(uint4*)(y + i) = o.pack;
    } else {
        for (; i < n; i++) y[i] = round_by_chance(x[i], i, seed);
    }
}
