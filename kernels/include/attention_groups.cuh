// Attention by warp groups of sm_90a: one thread starts copies of tiles to shared memory, and two or
// three warp groups multiply them, each with 64 queries of its own. While the tensor cores multiply
// for one group, another one makes its scores weights.
#pragma once
#include <math_constants.h>

#include "mbarrier.cuh"
#include "reduce.cuh"
#include "tensor.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

// ANCHOR: shared
const int KEYS = 128, STAGES = 2;

// Of each stage of a ring: its copies have come, and all warps that multiply have used it.
struct Ring {
    Mbarrier full[STAGES], empty[STAGES];
};

// A row of 128 elements is in two boxes.
template <int HEAD, int GROUPS>
struct Shared {
    static const int PARTS = HEAD / 64;
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

// What a block does: the queries of one head from number `first` on. It goes through the keys in
// so many steps, from the last one that it needs to key 0.
struct Task {
    unsigned head, kv_head, first, length, steps;
};

// ANCHOR: produce
// One thread. The keys of a step are asked for before the values of the step before it, because
// they are needed earlier.
template <int HEAD, int GROUPS>
__device__ __forceinline__ void produce(Shared<HEAD, GROUPS>& shared, const TensorMap& q,
                                        const TensorMap& k, const TensorMap& v,
                                        const Task& task) {
    auto load = [&](Box<KEYS> (&stages)[STAGES][HEAD / 64], Ring& ring, const TensorMap& from,
                    unsigned step) {
        const Place at(step);
        // The first time around, the stages are empty: the phase before the first has ended.
        ring.empty[at.stage].wait(at.parity ^ 1);
        ring.full[at.stage].arrive_and_expect(sizeof(stages[0]));
        for (int part = 0; part < HEAD / 64; part++) {
            // The last keys come first.
            load_box(&stages[at.stage][part], from, 64 * part,
                     (task.steps - 1 - step) * KEYS, task.kv_head, ring.full[at.stage]);
        }
    };
    shared.queries_full.arrive_and_expect(sizeof(shared.queries));
    for (int group = 0; group < GROUPS; group++) {
        for (int part = 0; part < HEAD / 64; part++) {
            load_box(&shared.queries[group][part], q, 64 * part, task.first + 64 * group,
                     task.head, shared.queries_full);
        }
    }
    load(shared.keys, shared.of_keys, k, 0);
    for (unsigned step = 1; step < task.steps; step++) {
        load(shared.keys, shared.of_keys, k, step);
        load(shared.values, shared.of_values, v, step - 1);
    }
    load(shared.values, shared.of_values, v, task.steps - 1);
}
// ANCHOR_END: produce

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
__device__ __forceinline__ void store_results(Box<64> (&boxes)[HEAD / 64],
                                              const float (&results)[HEAD / 2],
                                              const TensorMap& out, unsigned head,
                                              unsigned first) {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
    const int row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    // All warps of the group have used the queries.
    group_sync(group);
#pragma unroll
    for (int i = 0; i < HEAD / 16; i++) {
        const float* of = &results[8 * i];
        const unsigned rounded[4] = {rounded_pair(of[0], of[1]), rounded_pair(of[2], of[3]),
                                     rounded_pair(of[4], of[5]), rounded_pair(of[6], of[7])};
        store_matrices(boxes[i / 4].pack(row, i % 4 * 2 + lane / 16), rounded);
    }
    show_to_copies();
    group_sync(group);
    if (threadIdx.x % 128 == 0) {
        for (int part = 0; part < HEAD / 64; part++)
            store_box(out, 64 * part, first, head, &boxes[part]);
        // The memory is the block's until the last box was read.
        wait_for_stores<0>();
    }
}

// ANCHOR: hide
// Of the last tile of keys, which comes first, some count for nothing: those that there are not,
// or those behind a query under a causal mask. Then no query is behind the last key, and the
// tile begins where the block's queries do.
template <bool CAUSAL>
__device__ __forceinline__ void hide(float (&scores)[KEYS / 2], const Task& task, int group) {
    const int lane = threadIdx.x % 32, column = lane % 4 * 2;
    if constexpr (CAUSAL) {
        const int query = 64 * group + threadIdx.x % 128 / 32 * 16 + lane / 4;
#pragma unroll
        for (int i = 0; i < KEYS / 2; i++) {
            if (i / 4 * 8 + i % 2 + column > query + i / 2 % 2 * 8) scores[i] = -CUDART_INF_F;
        }
    } else if (task.length % KEYS != 0) {
        const int there = task.length - (task.steps - 1) * KEYS;
#pragma unroll
        for (int i = 0; i < KEYS / 2; i++) {
            if (i / 4 * 8 + i % 2 + column >= there) scores[i] = -CUDART_INF_F;
        }
    }
}
// ANCHOR_END: hide

// ANCHOR: consume
// A warp group has 64 of the block's queries.
template <bool CAUSAL, int HEAD, int GROUPS>
__device__ __forceinline__ void consume(Shared<HEAD, GROUPS>& shared, const TensorMap& out,
                                        const Task& task) {
    const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    const int next = (group + 1) % GROUPS;
    const unsigned steps = task.steps;
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
            weights[i / 4][i % 4] = rounded_pair(scores[2 * i], scores[2 * i + 1]);
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
        hide<CAUSAL>(scores, task, group);
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
    store_results<HEAD>(shared.queries[group], results, out, task.head, task.first + 64 * group);
}
// ANCHOR_END: consume

// ANCHOR: attend
// Blocks of 128 threads that copy and 128 of each group that multiplies.
template <bool CAUSAL, int HEAD, int GROUPS>
__device__ __forceinline__ void attend(const TensorMap& q, const TensorMap& k,
                                       const TensorMap& v, const TensorMap& out,
                                       const Task& task) {
    static_assert(!CAUSAL || 64 * GROUPS == KEYS, "the first tile has all keys to hide");
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared<HEAD, GROUPS>& shared = *(Shared<HEAD, GROUPS>*)memory;
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
    if (threadIdx.x < 128) {
        keep_registers<GROUPS == 2 ? 24 : 32>();
        if (threadIdx.x == 0) produce(shared, q, k, v, task);
    } else {
        take_registers<GROUPS == 2 ? 240 : 160>();
        consume<CAUSAL>(shared, out, task);
    }
}
// ANCHOR_END: attend
