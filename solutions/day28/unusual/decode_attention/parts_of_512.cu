// Parts of 512 tokens along the grid's y, which leave half of what is lent unused, and a warp for each row of the merging.
#include <cuda_bf16.h>
#include <math_constants.h>

#include "pack.cuh"
#include "reduce.cuh"

typedef __nv_bfloat16 bf16;

const int THREADS = 256;
const int PART = 512; // Tokens of a part.
const int PAGE = 16;  // Tokens of a page.
const int HEADS = 4;  // So many heads of queries use a key that is loaded.

// What a block has in shared memory.
template <int HEAD>
struct Shared {
    int pages[PART / PAGE];              // The numbers of the part's pages.
    float weights[HEADS][PART];          // Scores first.
    float partial[THREADS / 32][HEADS][HEAD]; // Of each warp.
};

// Eight elements of a row of the cache, number `pack` of it: of token `token` of the part.
template <int HEAD>
__device__ __forceinline__ Pack<bf16> load_row(const Shared<HEAD>& shared, const bf16* cache, size_t kv_heads, size_t head, int token,
                                               int pack) {
    const size_t page = shared.pages[token / PAGE];
    return load_pack(cache, ((page * kv_heads + head) * PAGE + token % PAGE) * (HEAD / 8) + pack);
}

// The part's results for `heads` heads of queries, at most HEADS. q, partial and sums begin where the first of them has its own; the next
// head has its results `parts` rows later. `tokens` says how many there are, at most PART.
template <int HEAD>
__device__ void attend(Shared<HEAD>& shared, const bf16* __restrict__ q, const bf16* __restrict__ k_cache,
                       const bf16* __restrict__ v_cache, float* __restrict__ partial, float* __restrict__ sums, size_t kv_heads,
                       size_t head, int heads, size_t parts, int tokens) {
    // LANES lanes have a row, and each of them eight of its elements. The block has ROWS rows at a time, and a thread LOADS of them.
    const int LANES = HEAD / 8, ROWS = THREADS / LANES, LOADS = 4;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pack = threadIdx.x % LANES, row = threadIdx.x / LANES;

    float query[HEADS][8];
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        const Pack<bf16> of_head = load_pack(q, (i < heads ? i : 0) * LANES + pack);
#pragma unroll
        for (int j = 0; j < 8; j++) query[i][j] = to_float(of_head.at[j]);
    }
    // exp(x / sqrt(HEAD)) is 2 to the power of x times this.
    const float scale = 1.44269504f * rsqrtf(HEAD);
    for (int first = 0; first < tokens; first += ROWS * LOADS) {
        Pack<bf16> keys[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int token = first + i * ROWS + row;
            keys[i].bits = make_uint4(0, 0, 0, 0);
            if (token < tokens) keys[i] = load_row<HEAD>(shared, k_cache, kv_heads, head, token, pack);
        }
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int token = first + i * ROWS + row;
#pragma unroll
            for (int h = 0; h < HEADS; h++) {
                float score = 0.0f;
#pragma unroll
                for (int j = 0; j < 8; j++) score += query[h][j] * to_float(keys[i].at[j]);
                score = reduce_lanes<LANES>(score, Sum());
                if (pack == 0) shared.weights[h][token] = token < tokens ? score * scale : -CUDART_INF_F;
            }
        }
    }
    __syncthreads();

    // A warp has the scores of a head.
    if (warp < heads) {
        float largest = -CUDART_INF_F, sum = 0.0f;
        for (int token = lane; token < tokens; token += 32) largest = fmaxf(largest, shared.weights[warp][token]);
        largest = reduce_lanes<32>(largest, Max());
        for (int token = lane; token < tokens; token += 32) {
            const float weight = exp2f(shared.weights[warp][token] - largest);
            shared.weights[warp][token] = weight;
            sum += weight;
        }
        sum = reduce_lanes<32>(sum, Sum());
        if (lane == 0) *(float2*)&sums[warp * parts * 2] = make_float2(largest, sum);
    }
    __syncthreads();

    float result[HEADS][8] = {};
    for (int first = 0; first < tokens; first += ROWS * LOADS) {
        Pack<bf16> values[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int token = first + i * ROWS + row;
            values[i].bits = make_uint4(0, 0, 0, 0);
            if (token < tokens) values[i] = load_row<HEAD>(shared, v_cache, kv_heads, head, token, pack);
        }
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int token = first + i * ROWS + row;
#pragma unroll
            for (int h = 0; h < HEADS; h++) {
                const float weight = token < tokens ? shared.weights[h][token] : 0.0f;
#pragma unroll
                for (int j = 0; j < 8; j++) result[h][j] += weight * to_float(values[i].at[j]);
            }
        }
    }
    // Lanes that are LANES apart have the same elements, of other tokens. So have the warps.
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int distance = 16; distance >= LANES; distance /= 2) {
                result[h][j] += __shfl_xor_sync(0xffffffffu, result[h][j], distance);
            }
            if (lane < LANES) shared.partial[warp][h][8 * pack + j] = result[h][j];
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < heads * HEAD; i += THREADS) {
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < THREADS / 32; j++) sum += shared.partial[j][i / HEAD][i % HEAD];
        partial[i / HEAD * parts * HEAD + i % HEAD] = sum;
    }
    // The next heads' scores take the place of these weights, which every warp must have read.
    __syncthreads();
}

// All heads of queries that share head `head` of the keys, for one part of one sequence.
template <int HEAD>
__device__ void attend_all(Shared<HEAD>& shared, const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table,
                           const int* lengths, float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t pages) {
    const size_t parts = (PAGE * pages + PART - 1) / PART, group = q_heads / kv_heads;
    const size_t head = blockIdx.z, part = blockIdx.y, sequence = blockIdx.x;
    const size_t begin = part * PART, length = lengths[sequence];
    if (begin >= length) return;
    const int tokens = length - begin < PART ? length - begin : PART;
    if (threadIdx.x < (tokens + PAGE - 1) / PAGE) {
        shared.pages[threadIdx.x] = block_table[sequence * pages + begin / PAGE + threadIdx.x];
    }
    __syncthreads();
    for (size_t first = 0; first < group; first += HEADS) {
        const size_t row = sequence * q_heads + head * group + first;
        attend<HEAD>(shared, q + row * HEAD, k_cache, v_cache, partial + (row * parts + part) * HEAD, sums + (row * parts + part) * 2,
                     kv_heads, head, group - first < HEADS ? group - first : HEADS, parts, tokens);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
    decode_attention(const bf16* q, const bf16* k_cache, const bf16* v_cache, const int* block_table, const int* lengths,
                     float* partial, float* sums, size_t q_heads, size_t kv_heads, size_t head_dim, size_t pages) {
    __shared__ __align__(16) char memory[sizeof(Shared<128>)];
    if (head_dim == 64) {
        attend_all<64>(*(Shared<64>*)memory, q, k_cache, v_cache, block_table, lengths, partial, sums, q_heads, kv_heads, pages);
    } else {
        attend_all<128>(*(Shared<128>*)memory, q, k_cache, v_cache, block_table, lengths, partial, sums, q_heads, kv_heads, pages);
    }
}

// A warp has a head of queries of a sequence. A lane has every 32nd part's sums, and then an element after the other.
extern "C" __global__ void merge_parts(const float* partial, const float* sums, const int* lengths, bf16* out, size_t rows,
                                       size_t q_heads, size_t head_dim, size_t pages) {
    const size_t parts = (PAGE * pages + PART - 1) / PART, row = (size_t)blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows) return;
    const int lane = threadIdx.x % 32, used = (lengths[row / q_heads] + PART - 1) / PART;
    const float2* of_parts = (const float2*)sums + row * parts;
    float largest = -CUDART_INF_F, sum = 0.0f;
    for (int part = lane; part < used; part += 32) largest = fmaxf(largest, of_parts[part].x);
    largest = reduce_lanes<32>(largest, Max());
    for (int part = lane; part < used; part += 32) sum += exp2f(of_parts[part].x - largest) * of_parts[part].y;
    const float factor = 1.0f / reduce_lanes<32>(sum, Sum());
    for (int element = lane; element < head_dim; element += 32) {
        float result = 0.0f;
        for (int part = 0; part < used; part++) {
            result += exp2f(of_parts[part].x - largest) * partial[(row * parts + part) * head_dim + element];
        }
        out[row * head_dim + element] = __float2bfloat16(result * factor);
    }
}
