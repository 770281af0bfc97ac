// flash_attention for sm_90a: one warp starts copies of tiles to shared memory, and two or three warp groups multiply them, each with
// 64 queries of its own. While the tensor cores multiply for one group, another one makes its scores weights.
//
// What copies of boxes cannot do, and what other architectures have, is `flash_attention_any`'s.
#include <cuda_bf16.h>
#include <math_constants.h>
#include "mbarrier.cuh"
#include "reduce.cuh"
#include "tensor.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

typedef __nv_bfloat16 bf16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// ANCHOR: shared
const int KEYS = 128, STAGES = 2;

// What a copy moves: rows of 64 elements, which are 128 bytes. Their packs of 16 bytes are in
// another order in each row.
template <int ROWS>
struct Box {
    bf16 rows[ROWS][64];
};

// Of each stage of a ring: its copies have come, and all warps that multiply have used it.
struct Ring {
    Mbarrier full[STAGES], empty[STAGES];
};

// A row of 128 elements is in two boxes.
template <int HEAD>
struct Shared {
    // A thread has registers for 128 results and scores. With d = 64 there are fewer, and so
    // there is room for a third group.
    static const int GROUPS = HEAD == 128 ? 2 : 3, PARTS = HEAD / 64;
    Box<64> queries[GROUPS][PARTS]; // The results take their place.
    Box<KEYS> keys[STAGES][PARTS], values[STAGES][PARTS];
    Mbarrier queries_full;
    Ring of_keys, of_values;
};

// Where in its ring the tile of a step is. Each time around, the barriers are in another phase.
struct Place {
    unsigned stage, parity;
    __device__ Place(unsigned step) : stage(step % STAGES), parity(step / STAGES % 2) {}
};
// ANCHOR_END: shared

// ANCHOR: produce
// One thread. The keys of a step are asked for before the values of the step before it, because
// they are needed earlier.
template <int HEAD>
__device__ __forceinline__ void produce(Shared<HEAD>& shared, const TensorMap& q,
                                        const TensorMap& k, const TensorMap& v, unsigned head,
                                        unsigned first, unsigned steps) {
    auto load = [&](Box<KEYS> (&stages)[STAGES][HEAD / 64], Ring& ring, const TensorMap& from,
                    unsigned step) {
        const Place at(step);
        // The first time around, the stages are empty: the phase before the first has ended.
        ring.empty[at.stage].wait(at.parity ^ 1);
        ring.full[at.stage].arrive_and_expect(sizeof(stages[0]));
        for (int part = 0; part < HEAD / 64; part++) {
            // The last keys come first.
            load_box(&stages[at.stage][part], from, 64 * part, (steps - 1 - step) * KEYS, head,
                     ring.full[at.stage]);
        }
    };
    shared.queries_full.arrive_and_expect(sizeof(shared.queries));
    for (int group = 0; group < Shared<HEAD>::GROUPS; group++) {
        for (int part = 0; part < HEAD / 64; part++) {
            load_box(&shared.queries[group][part], q, 64 * part, first + 64 * group, head,
                     shared.queries_full);
        }
    }
    load(shared.keys, shared.of_keys, k, 0);
    for (unsigned step = 1; step < steps; step++) {
        load(shared.keys, shared.of_keys, k, step);
        load(shared.values, shared.of_values, v, step - 1);
    }
    load(shared.values, shared.of_values, v, steps - 1);
}
// ANCHOR_END: produce

__device__ __forceinline__ unsigned pair(float one, float two) {
    const __nv_bfloat162 rounded = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&rounded;
}

// Without what `exp2f` does for results below 2^-126, which are 0 here.
__device__ __forceinline__ float power_of_2(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

// ANCHOR: softmax
// A lane has two queries, in rows l / 4 and l / 4 + 8 of its warp, and shares them with three
// others.
struct Softmax {
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {};
    float correction[2]; // for what was added up before these scores

    // Scores become weights: 2 to the power of (score - largest) * scale.
    template <int COUNT>
    __device__ __forceinline__ void weigh(float (&scores)[COUNT], float scale) {
#pragma unroll
        for (int row = 0; row < 2; row++) {
            float even = scores[2 * row], odd = scores[2 * row + 1];
#pragma unroll
            for (int i = 4 + 2 * row; i < COUNT; i += 4) {
                even = fmaxf(even, scores[i]);
                odd = fmaxf(odd, scores[i + 1]);
            }
            const float now = reduce_lanes<4>(fmaxf(even, odd), Max()) * scale;
            const float before = largest[row];
            largest[row] = fmaxf(before, now);
            correction[row] = power_of_2(before - largest[row]);
        }
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            scores[i] = power_of_2(fmaf(scores[i], scale, -largest[i / 2 % 2]));
        }
#pragma unroll
        for (int row = 0; row < 2; row++) {
            float even = scores[2 * row], odd = scores[2 * row + 1];
#pragma unroll
            for (int i = 4 + 2 * row; i < COUNT; i += 4) {
                even += scores[i];
                odd += scores[i + 1];
            }
            sum[row] = fmaf(sum[row], correction[row], even + odd);
        }
    }
};
// ANCHOR_END: softmax

// Of sums, whose rows alternate by pairs.
template <int COUNT>
__device__ __forceinline__ void multiply_rows(float (&sums)[COUNT], const float (&factors)[2]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) sums[i] *= factors[i / 2 % 2];
}

// ANCHOR: turns
// A barrier of the 128 threads of a warp group. Number 0 is that of `__syncthreads`.
__device__ __forceinline__ void group_sync(int group) {
    asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
}
// A group waits for its turn, and another one gives it without waiting: 256 threads.
__device__ __forceinline__ void wait_for_turn(int group) {
    asm volatile("bar.sync %0, 256;" :: "r"(8 + group) : "memory");
}
__device__ __forceinline__ void give_turn(int group) {
    asm volatile("bar.arrive %0, 256;" :: "r"(8 + group) : "memory");
}
// ANCHOR_END: turns

// Writes the results of a group's queries, in their place in shared memory and from there to `out`.
template <int HEAD>
__device__ __forceinline__ void store_results(Box<64> (&boxes)[HEAD / 64], const float (&results)[HEAD / 2], const TensorMap& out,
                                              unsigned head, unsigned first) {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    // All warps of the group have used the queries.
    group_sync(group);
#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) {
        const float* of = &results[8 * i];
        const unsigned rounded[4] = {pair(of[0], of[1]), pair(of[2], of[3]), pair(of[4], of[5]), pair(of[6], of[7])};
        // The order of packs in a row that the copy goes by.
        store_matrices(&boxes[i / 4].rows[row][((i % 4 * 2 + lane / 16) ^ row % 8) * 8], rounded);
    }
    show_to_copies();
    group_sync(group);
    if (threadIdx.x % 128 == 0) {
        for (int part = 0; part < HEAD / 64; part++) store_box(out, 64 * part, first, head, &boxes[part]);
        // The memory is the block's until the last box was read.
        wait_for_stores<0>();
    }
}

// ANCHOR: consume
// A warp group has 64 queries, from number `first` on.
template <int HEAD>
__device__ __forceinline__ void consume(Shared<HEAD>& shared, const TensorMap& out,
                                        unsigned head, unsigned first, unsigned length,
                                        unsigned steps) {
    const int GROUPS = Shared<HEAD>::GROUPS;
    const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    const int next = (group + 1) % GROUPS;
    // exp(x / sqrt(HEAD)) is 2 to the power of x times this.
    const float scale = 1.44269504f * (HEAD == 64 ? 0.125f : 0.0883883476f);
    // What lies so many elements farther has a descriptor that is larger by an eighth of them.
    const unsigned long long of_queries = descriptor(shared.queries[group], 0);
    const unsigned long long of_keys = descriptor(shared.keys, 0);
    const unsigned long long of_values = descriptor(shared.values, sizeof(Box<KEYS>));
    const int STAGE = HEAD * KEYS;

    float results[HEAD / 2] = {};
    unsigned weights[KEYS / 16][4];
    Softmax softmax;

    auto start_scores = [&](float (&scores)[KEYS / 2], unsigned step) {
        const Place at(step);
        pin(scores);
        begin_products();
#pragma unroll
        for (int i = 0; i < HEAD / 16; i++) {
            const int box = i / 4 * 64, column = i % 4 * 16;
            multiply_transposed(scores, of_queries + (box * 64 + column) / 8,
                                of_keys + (at.stage * STAGE + box * KEYS + column) / 8, i > 0);
        }
        commit_products();
    };
    auto start_results = [&](unsigned step) {
        const Place at(step);
        shared.of_values.full[at.stage].wait(at.parity);
        pin(results);
        pin(weights);
        begin_products();
#pragma unroll
        for (int i = 0; i < KEYS / 16; i++) {
            multiply(results, weights[i], of_values + (at.stage * STAGE + i * 16 * 64) / 8);
        }
        commit_products();
    };
    auto release = [&](Ring& ring, unsigned step) {
        // All lanes have seen that the products are done.
        __syncwarp();
        if (lane == 0) ring.empty[Place(step).stage].arrive();
    };
    // The lanes' sums of the first product are the fragments of the second one.
    auto round = [&](const float (&scores)[KEYS / 2]) {
#pragma unroll
        for (int i = 0; i < KEYS / 4; i++) {
            weights[i / 4][i % 4] = pair(scores[2 * i], scores[2 * i + 1]);
        }
    };

    if (group == GROUPS - 1 && steps > 1) give_turn(next);
    shared.queries_full.wait(0);
    {
        float scores[KEYS / 2];
        shared.of_keys.full[0].wait(0);
        start_scores(scores, 0);
        wait_for_products<0>();
        pin(scores);
        release(shared.of_keys, 0);
        // The last keys: only here some may be missing.
        const int there = length - (steps - 1) * KEYS - lane % 4 * 2;
        if (length % KEYS != 0) {
#pragma unroll
            for (int i = 0; i < KEYS / 2; i++) {
                if (i / 4 * 8 + i % 2 >= there) scores[i] = -CUDART_INF_F;
            }
        }
        softmax.weigh(scores, scale);
        round(scores);
    }
    for (unsigned step = 1; step < steps; step++) {
        float scores[KEYS / 2];
        const Place at(step), before(step - 1);
        shared.of_keys.full[at.stage].wait(at.parity);
        wait_for_turn(group);
        start_scores(scores, step);
        start_results(step - 1);
        // The last turn of all is given to no one.
        if (step + 1 < steps || group < GROUPS - 1) give_turn(next);
        wait_for_products<1>();
        pin(scores);
        release(shared.of_keys, step);
        softmax.weigh(scores, scale);
        pin(scores);
        // These values have long come. But ptxas moves a wait for products to the front of its
        // basic block, which is before the softmax. This loop begins another block.
        shared.of_values.full[before.stage].wait(before.parity);
        wait_for_products<0>();
        pin(results);
        pin(weights);
        release(shared.of_values, step - 1);
        round(scores);
        multiply_rows(results, softmax.correction);
    }
    start_results(steps - 1);
    float factors[2];
    for (int row = 0; row < 2; row++) {
        factors[row] = 1.0f / reduce_lanes<4>(softmax.sum[row], Sum());
    }
    wait_for_products<0>();
    pin(results);
    multiply_rows(results, factors);
    store_results<HEAD>(shared.queries[group], results, out, head, first);
}
// ANCHOR_END: consume

// ANCHOR: kernel
// The blocks of a head follow each other, so that those that run at the same time read the same
// keys.
template <int HEAD>
__device__ __forceinline__ void attend(const TensorMap& q, const TensorMap& k,
                                       const TensorMap& v, const TensorMap& out,
                                       unsigned length) {
    const int GROUPS = Shared<HEAD>::GROUPS;
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared<HEAD>& shared = *(Shared<HEAD>*)memory;
    if (threadIdx.x == 0) {
        shared.queries_full.init(1);
        for (int stage = 0; stage < STAGES; stage++) {
            shared.of_keys.full[stage].init(1);
            shared.of_values.full[stage].init(1);
            shared.of_keys.empty[stage].init(4 * GROUPS);
            shared.of_values.empty[stage].init(4 * GROUPS);
        }
    }
    __syncthreads();
    const unsigned blocks = (length + 64 * GROUPS - 1) / (64 * GROUPS);
    const unsigned head = blockIdx.x / blocks, first = blockIdx.x % blocks * 64 * GROUPS;
    const unsigned steps = (length + KEYS - 1) / KEYS;
    if (threadIdx.x < 128) {
        keep_registers<GROUPS == 2 ? 24 : 32>();
        if (threadIdx.x == 0) produce(shared, q, k, v, head, first, steps);
    } else {
        take_registers<GROUPS == 2 ? 240 : 160>();
        const unsigned queries = first + (threadIdx.x / 128 - 1) * 64;
        consume(shared, out, head, queries, length, steps);
    }
}

extern "C" __global__ void __launch_bounds__(512, 1)
    flash_attention_64(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
                       const __grid_constant__ TensorMap v,
                       const __grid_constant__ TensorMap out, size_t length) {
    attend<64>(q, k, v, out, length);
}
extern "C" __global__ void __launch_bounds__(384, 1)
    flash_attention_128(const __grid_constant__ TensorMap q,
                        const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                        const __grid_constant__ TensorMap out, size_t length) {
    attend<128>(q, k, v, out, length);
}
// ANCHOR_END: kernel
#endif

// For elements that begin anywhere: a warp for each query, whose lanes share the elements, one key after the other.
extern "C" __global__ void __launch_bounds__(128) flash_attention_any(const bf16* q, const bf16* k, const bf16* v, bf16* out, size_t heads,
                                                                      size_t length, size_t head_dim) {
    const int lane = threadIdx.x % 32, each = head_dim / 32;
    const size_t query = (size_t)blockIdx.x * 4 + threadIdx.x / 32, begin = query / length * length * head_dim;
    if (query >= heads * length) return;
    float own[4], result[4] = {}, largest = -CUDART_INF_F, sum = 0;
    for (int i = 0; i < each; i++) own[i] = __bfloat162float(q[query * head_dim + lane + 32 * i]);
    for (size_t key = 0; key < length; key++) {
        const size_t row = begin + key * head_dim + lane;
        float score = 0;
        for (int i = 0; i < each; i++) score += own[i] * __bfloat162float(k[row + 32 * i]);
        score = reduce_lanes<32>(score, Sum()) * rsqrtf(head_dim);
        const float before = largest;
        largest = fmaxf(before, score);
        const float correction = expf(before - largest), weight = expf(score - largest);
        sum = sum * correction + weight;
        for (int i = 0; i < each; i++) result[i] = result[i] * correction + weight * __bfloat162float(v[row + 32 * i]);
    }
    for (int i = 0; i < each; i++) out[query * head_dim + lane + 32 * i] = __float2bfloat16(result[i] / sum);
}
