// What surrounds and makes attention: rotary embeddings, caches in pages, a decoding step, masked scores, embeddings, experts.
// by others
// sweep: tokens = 16 256 2048 16384; heads = 32; block = 256
// launch: rope_neox_table<<<{tokens}, {block}>>>(qk: f16[{tokens * heads * 128}], table: f32[{4096 * 128}], positions: i32[{tokens}], heads: i32 = {heads}, dim: i32 = 128)
// sweep: sequences = 1 4 16; heads = 1 8; base = 10000
// launch: rope_append_pages<<<({sequences * 2048},{heads}), 64>>>(k: f16[{sequences * 2048 * heads * 128}], pages: i32[{sequences * 128}], cache: f16[{sequences * 2048 * heads * 128}] uninit, tokens: i32 = 2048, base: f32 = {base})
// sweep: sequences = 2 8 32; own = 0 1; width = 1024
// launch: kv_gather_blocks<<<({sequences},128), 256>>>(pool: f16[{max(own * sequences, 1) * 128 * 16 * width}], table: i32[{sequences * 128}], out: f16[{sequences * 128 * 16 * width}] uninit, width: i32 = {width / 8}, own: i32 = {own * 128})
// sweep: sequences = 1 16 64; keys = 200 2048
// launch: decode_attention_head<<<(32,{sequences}), 128, {4 * keys}>>>(q: f16[{sequences * 32 * 128}], k: f16[{sequences * 8 * keys * 128}], v: f16[{sequences * 8 * keys * 128}], y: f16[{sequences * 32 * 128}] uninit, keys: i32 = {keys}, share: i32 = 4)
// sweep: tokens = 128 500 2048; heads = 12; block = 64 256
// launch: alibi_causal_softmax<<<({tokens},{heads}), {block}>>>(scores: f32[{heads * tokens * tokens}], tokens: i32 = {tokens}, scale: f32 = 0.125)
// sweep: tokens = 100 4096 32768; width = 768 1024; block = 192
// launch: hashed_embedding<<<{ceil(tokens, 4)}, ({block / 4},4)>>>(low: u8[{tokens}], high: u8[{tokens / 128 + 1}], rows: f32[{50000 * width}], places: f32[{1024 * width}], out: f32[{tokens * width}] uninit, tokens: u32 = {tokens}, buckets: u32 = 50000, packs: u32 = {width / 4})
// sweep: rows = 1 64 512; vocabulary = 32000 128256; block = 1024
// launch: greedy_token<<<{rows}, {block}>>>(logits: f16[{rows * vocabulary}], token: i32[{rows}] uninit, top: f32[{rows}] uninit, pairs: i32 = {vocabulary / 2})
// sweep: tokens = 100 2^13 2^17 2^20; top = 2
// sweep: tokens = 2^17; top = 8
// launch: moe_gate_top_k<<<{ceil(tokens, 8)}, 256>>>(gate: f32[{tokens * 64}], expert: i32[{tokens * top}] uninit, share: f32[{tokens * top}] uninit, counts: i32[64] zero, tokens: i32 = {tokens}, top: i32 = {top})
// sweep: tokens = 256 2048 16384; width = 1024 7168; block = 128
// launch: moe_permute_rows<<<{tokens}, {block}>>>(x: bf16[{tokens * width}], expert: i32[{tokens}], out: bf16[{tokens * width}] uninit, capacity: i32 = {tokens / 128}, packs: i32 = {width / 8})
#include <cuda_fp16.h>
// Rotates halves of heads in place; a row of the table has all cosines and then all sines.
extern "C" __global__ void rope_neox_table(__half* qk, const float* table, const int* positions, int heads, int dim) {
    int half_dim = dim / 2, token = blockIdx.x;
    const float* row = table + positions[token] * dim;
    for (int i = threadIdx.x; i < heads * half_dim; i += blockDim.x) {
        int head = i / half_dim, d = i % half_dim;
        __half* at = qk + ((size_t)token * heads + head) * dim + d;
        float a = __half2float(at[0]), b = __half2float(at[half_dim]), c = row[d], s = row[d + half_dim];
        at[0] = __float2half(a * c - b * s);
        at[half_dim] = __float2half(b * c + a * s);
    }
}
// Neighbours make a pair; angles are computed on the way into the cache, whose pages of 16 tokens are one sequence's own.
extern "C" __global__ void rope_append_pages(const __half2* __restrict__ k, const int* pages, __half2* cache,
                                             int tokens, float base) {
    const int token = blockIdx.x, head = blockIdx.y, heads = gridDim.y, d = threadIdx.x;
    const int sequence = token / tokens, position = token % tokens;
    const float angle = position * powf(base, -2.0f * d / 128.0f);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    const float2 v = __half22float2(k[((size_t)token * heads + head) * 64 + d]);
    const int pages_each = tokens / 16, page = sequence * pages_each + pages[sequence * pages_each + position / 16];
    cache[(((size_t)page * heads + head) * 16 + position % 16) * 64 + d] =
        __floats2half2_rn(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
}
extern "C" __global__ void kv_gather_blocks(const uint4* pool, const int* table, uint4* out, int width, int own) {
    const int entry = blockIdx.x * gridDim.y + blockIdx.y, page = blockIdx.x * own + table[entry], packs = 16 * width;
    const uint4* from = pool + (size_t)page * packs;
    uint4* to = out + (size_t)entry * packs;
    for (int i = threadIdx.x; i < packs; i += blockDim.x) to[i] = from[i];
}
// Four warps score the keys of one head, then each thread sums up one of 128 dimensions. Heads of a group share keys and values.
extern "C" __global__ void decode_attention_head(const half* q, const half* k, const half* v, half* y, int keys, int share) {
    extern __shared__ float score[];
    __shared__ float part[4];
    int head = blockIdx.x, heads = gridDim.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    size_t row = blockIdx.y * heads + head, first = (blockIdx.y * (heads / share) + head / share) * (size_t)keys;
    const half2* own = (const half2*)(q + row * 128) + 2 * lane;
    float2 q0 = __half22float2(own[0]), q1 = __half22float2(own[1]);
    float top = -1e30f, sum = 0.0f, value = 0.0f;
    for (int t = warp; t < keys; t += 4) {
        uint2 bits = *(const uint2*)(k + (first + t) * 128 + 4 * lane);
        float2 k0 = __half22float2(*(half2*)&bits.x), k1 = __half22float2(*(half2*)&bits.y);
        float dot = 0.08838835f * (q0.x * k0.x + q0.y * k0.y + q1.x * k1.x + q1.y * k1.y);
        for (int d = 16; d > 0; d /= 2) dot += __shfl_xor_sync(0xffffffff, dot, d);
        if (lane == 0) score[t] = dot;
        top = fmaxf(top, dot);
    }
    if (lane == 0) part[warp] = top;
    __syncthreads();
    top = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    for (int t = threadIdx.x; t < keys; t += 128) score[t] = __expf(score[t] - top);
    __syncthreads();
#pragma unroll 8
    for (int t = 0; t < keys; t++) {
        value += score[t] * __half2float(v[(first + t) * 128 + threadIdx.x]);
        sum += score[t];
    }
    y[row * 128 + threadIdx.x] = __float2half(value / sum);
}
__device__ float all_of_block(float v, bool largest) {
    __shared__ float part[8];
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, v, d);
        v = largest ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) v = largest ? fmaxf(v, part[w]) : v + part[w];
    return v;
}
extern "C" __global__ void alibi_causal_softmax(float* scores, int tokens, float scale) {
    const int query = blockIdx.x, head = blockIdx.y;
    float* row = scores + ((size_t)head * tokens + query) * tokens;
    const float slope = exp2f(-8.0f * (head + 1) / gridDim.y);
    float top = -1e30f, sum = 0.0f;
    for (int k = threadIdx.x; k <= query; k += blockDim.x) top = fmaxf(top, row[k] * scale - slope * (query - k));
    top = all_of_block(top, true);
    for (int key = threadIdx.x; key <= query; key += blockDim.x) {
        float e = expf(row[key] * scale - slope * (query - key) - top);
        row[key] = e;
        sum += e;
    }
    const float inverse = 1.0f / all_of_block(sum, false);
    for (int key = threadIdx.x; key < tokens; key += blockDim.x) row[key] = key <= query ? row[key] * inverse : 0.0f;
}
// Identifiers are stored as a low byte per token and a high byte per run of 128, and hashed to a row.
extern "C" __global__ void hashed_embedding(const unsigned char* low, const unsigned char* high, const float4* rows,
        const float4* places, float4* out, unsigned tokens, unsigned buckets, unsigned packs) {
    unsigned t = blockIdx.x * blockDim.y + threadIdx.y;
    if (t >= tokens) return;
    unsigned id = high[t / 128] * 256u + low[t], row = (id * 2654435761u >> 7) % buckets;
    for (unsigned p = threadIdx.x; p < packs; p += blockDim.x) {
        float4 a = __ldg(rows + (size_t)row * packs + p), b = __ldg(places + t % 1024 * packs + p);
        out[(size_t)t * packs + p] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}
struct Best { float value; int index; };
__device__ __forceinline__ Best better(Best a, Best b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
extern "C" __global__ void greedy_token(const __half2* logits, int* token, float* top, int pairs) {
    __shared__ Best part[32];
    Best best = {-1e30f, 0};
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __half22float2(logits[(size_t)blockIdx.x * pairs + i]);
        best = better(best, better({v.x, 2 * i}, {v.y, 2 * i + 1}));
    }
    for (int d = 16; d > 0; d /= 2) {
        float value = __shfl_down_sync(~0u, best.value, d);
        best = better(best, {value, __shfl_down_sync(~0u, best.index, d)});
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < blockDim.x / 32; w++) best = better(best, part[w]);
    token[blockIdx.x] = best.index, top[blockIdx.x] = best.value;
}
// A warp gates a token: 64 experts, two per lane; the weights of those that are taken add up to 1.
extern "C" __global__ void moe_gate_top_k(const float* gate, int* expert, float* share, int* counts, int tokens, int top) {
    __shared__ int taken[64];
    if (threadIdx.x < 64) taken[threadIdx.x] = 0;
    __syncthreads();
    int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token < tokens) {
        float a = expf(gate[token * 64 + lane]), b = expf(gate[token * 64 + lane + 32]), sum = 0.0f, mine = 0.0f;
        for (int k = 0; k < top; k++) {
            Best best = better({a, lane}, {b, lane + 32});
            for (int d = 16; d > 0; d /= 2) {
                float value = __shfl_xor_sync(~0u, best.value, d);
                best = better(best, {value, __shfl_xor_sync(~0u, best.index, d)});
            }
            sum += best.value;
            if (lane == k) mine = best.value, expert[token * top + k] = best.index, atomicAdd(&taken[best.index], 1);
            if (best.index == lane) a = -1.0f;
            if (best.index == lane + 32) b = -1.0f;
        }
        if (lane < top) share[token * top + lane] = mine / sum;
    }
    __syncthreads();
    if (threadIdx.x < 64 && taken[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], taken[threadIdx.x]);
}
extern "C" __global__ void moe_permute_rows(const uint4* __restrict__ x, const int* __restrict__ expert, uint4* out,
                                            int capacity, int packs) {
    size_t from = blockIdx.x * (size_t)packs, to = (expert[blockIdx.x] * capacity + blockIdx.x / 128) * (size_t)packs;
    for (int i = threadIdx.x; i < packs; i += blockDim.x) out[to + i] = x[from + i];
}
