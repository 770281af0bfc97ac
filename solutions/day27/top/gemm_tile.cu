// The top rung of the ladder: one thread starts copies of tiles to shared memory, and eight
// warps multiply them, by the instructions of sm_90a. A block goes from tile to tile of c:
// while one is written, the factors of the next one are copied.
//
// What copies of boxes cannot do, and what other architectures have, is `gemm_tile_any`'s.
#include <cuda_bf16.h>
#include "mbarrier.cuh"
#include "tensor.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

typedef __nv_bfloat16 bf16;

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// ANCHOR: shared
const int ROWS = 128, COLUMNS = 256, DEPTH = 64, STAGES = 4;

// What a copy moves: 64 rows of 64 elements. A row is 128 bytes, whose packs of 16 bytes are in
// another order in each.
struct Box {
    static const int EDGE = 64;
    bf16 rows[EDGE][EDGE];
};

// Two warp groups multiply the tile's upper and lower half.
struct Stage {
    Box a[ROWS / Box::EDGE];
    Box b[COLUMNS / Box::EDGE];
};

struct Shared {
    Stage stages[STAGES];
    Box out[2][2];
    // Of each stage: its copies have come, and all eight warps have multiplied it.
    Mbarrier full[STAGES], empty[STAGES];
};

// Where a warp is in the ring of stages. Each time around, the barriers are in another phase.
struct Turn {
    unsigned stage = 0, parity = 0;
    __device__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};
// ANCHOR_END: shared

// ANCHOR: order
// The tiles of c in the order in which blocks take them: column after column of sixteen rows of
// tiles. So those that are multiplied at the same time have rows of a and columns of b in
// common, which L2 then has.
struct Order {
    unsigned rows, columns;

    __device__ Order(size_t m, size_t n)
        : rows((m + ROWS - 1) / ROWS), columns((n + COLUMNS - 1) / COLUMNS) {}
    __device__ unsigned count() const { return rows * columns; }
    // The first row and column of a tile.
    __device__ void place(unsigned tile, unsigned& row, unsigned& column) const {
        const unsigned together = 16 * columns, first = tile / together * 16;
        const unsigned high = min(16, rows - first);
        row = (first + tile % together % high) * ROWS;
        column = tile % together / high * COLUMNS;
    }
};
// ANCHOR_END: order

// ANCHOR: produce
// One thread. It is ahead of those that multiply by as many steps as there are stages, and goes
// on to the next tile at once.
__device__ __forceinline__ void produce(Shared& shared, const TensorMap& a, const TensorMap& b,
                                        const Order& order, unsigned steps) {
    Turn turn;
    for (unsigned tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
        unsigned row, column;
        order.place(tile, row, column);
        for (unsigned step = 0; step < steps; step++, turn.next()) {
            Stage& stage = shared.stages[turn.stage];
            Mbarrier& full = shared.full[turn.stage];
            // At first the stages are empty: the phase before the first counts as ended.
            shared.empty[turn.stage].wait(turn.parity ^ 1);
            full.arrive_and_expect(sizeof(Stage));
            for (int i = 0; i < ROWS / Box::EDGE; i++)
                load_box(&stage.a[i], a, step * DEPTH, row + i * Box::EDGE, full);
            for (int i = 0; i < COLUMNS / Box::EDGE; i++)
                load_box(&stage.b[i], b, column + i * Box::EDGE, step * DEPTH, full);
        }
    }
}
// ANCHOR_END: produce

// A barrier of the 128 threads of a warp group. Number 0 is that of `__syncthreads`.
__device__ __forceinline__ void group_sync(int group) {
    asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory");
}

__device__ __forceinline__ unsigned pair(float one, float two) {
    const __nv_bfloat162 rounded = __floats2bfloat162_rn(one, two);
    return *(const unsigned*)&rounded;
}

// ANCHOR: store
// Writes a warp group's sums by boxes of 64 columns, which are copied from shared memory. Two
// take turns: one is written, and one copied.
__device__ __forceinline__ void store_sums(Box (&boxes)[2], const TensorMap& c,
                                           const float (&sums)[COLUMNS / 2], unsigned row,
                                           unsigned column) {
    const int group = threadIdx.x / 128, lane = threadIdx.x % 32;
    const int r = threadIdx.x % 128 / 32 * 16 + lane % 16;
    const bool leads = threadIdx.x % 128 == 0;
#pragma unroll
    for (int i = 0; i < COLUMNS / Box::EDGE; i++) {
        Box& box = boxes[i % 2];
        if (leads) wait_for_stores<1>();
        group_sync(group);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float* of = &sums[32 * i + 8 * j];
            const unsigned rounded[4] = {pair(of[0], of[1]), pair(of[2], of[3]),
                                         pair(of[4], of[5]), pair(of[6], of[7])};
            // The order of packs in a row that the copy goes by.
            store_matrices(&box.rows[r][((2 * j + lane / 16) ^ r % 8) * 8], rounded);
        }
        show_to_copies();
        group_sync(group);
        if (leads) store_box(c, column + i * Box::EDGE, row, &box);
    }
}
// ANCHOR_END: store

// ANCHOR: consume
// A warp group has 64 rows of the tile.
__device__ __forceinline__ void consume(Shared& shared, const TensorMap& c, const Order& order,
                                        unsigned steps) {
    const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
    auto release = [&](unsigned stage) {
        // All lanes have seen that the products are done.
        __syncwarp();
        if (lane == 0) shared.empty[stage].arrive();
    };
    Turn turn;
    for (unsigned tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
        float sums[COLUMNS / 2];
        unsigned before = 0;
        for (unsigned step = 0; step < steps; step++, turn.next()) {
            const Stage& stage = shared.stages[turn.stage];
            shared.full[turn.stage].wait(turn.parity);
            begin_products();
#pragma unroll
            for (int inner = 0; inner < DEPTH; inner += 16) {
                multiply(sums, descriptor(&stage.a[group].rows[0][inner], 0),
                         descriptor(&stage.b[0].rows[inner][0], sizeof(Box)),
                         step > 0 || inner > 0);
            }
            commit_products();
            // The tensor cores have the products of this step to do, while those of the step
            // before are done.
            wait_for_products<1>();
            if (step > 0) release(before);
            before = turn.stage;
        }
        wait_for_products<0>();
        release(before);
        unsigned row, column;
        order.place(tile, row, column);
        store_sums(shared.out[group], c, sums, row + group * Box::EDGE, column);
    }
    // The memory is the block's until the last box was read.
    wait_for_stores<0>();
}
// ANCHOR_END: consume

// ANCHOR: kernel
// A thread has 168 registers at first. The group that copies keeps 40, so that those that
// multiply can have 232: 128 * 40 + 256 * 232 are no more than 384 * 168.
__device__ __forceinline__ void keep_few_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
}
__device__ __forceinline__ void take_many_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
}

// For rows of all matrices that begin at multiples of 16 bytes, and at least one term.
extern "C" __global__ void __launch_bounds__(384, 1)
    gemm_tile_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    const __grid_constant__ TensorMap c, size_t m, size_t n, size_t k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    Shared& shared = *(Shared*)memory;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            shared.full[stage].init(1);
            shared.empty[stage].init(8);
        }
    }
    __syncthreads();
    const Order order(m, n);
    const unsigned steps = (k + DEPTH - 1) / DEPTH;
    if (threadIdx.x < 128) {
        keep_few_registers();
        if (threadIdx.x == 0) produce(shared, a, b, order, steps);
    } else {
        take_many_registers();
        consume(shared, c, order, steps);
    }
}
// ANCHOR_END: kernel
#endif

// Element by element, for rows that begin anywhere: 64 x 64 sums for a block, a warp's 16 x 32.
extern "C" __global__ void __launch_bounds__(256) gemm_tile_any(const bf16* __restrict__ a, const bf16* __restrict__ b,
                                                                bf16* __restrict__ c, size_t m, size_t n, size_t k) {
    const int THREADS = 256, TILE = 64, DEPTH = 32, PAD = 8;
    __shared__ __align__(16) bf16 tile_a[TILE][DEPTH + PAD];
    __shared__ __align__(16) bf16 tile_b[DEPTH][TILE + PAD];
    const size_t top = (size_t)blockIdx.x * TILE, left = (size_t)blockIdx.y * TILE;
    const int lane = threadIdx.x % 32, row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 32;
    float sums[4][4] = {};
    for (size_t step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int at = threadIdx.x; at < TILE * DEPTH; at += THREADS) {
            const size_t of_a = step + at % DEPTH, of_b = left + at % TILE;
            const bool in_a = top + at / DEPTH < m && of_a < k, in_b = step + at / TILE < k && of_b < n;
            tile_a[at / DEPTH][at % DEPTH] = in_a ? a[(top + at / DEPTH) * k + of_a] : bf16(0.0f);
            tile_b[at / TILE][at % TILE] = in_b ? b[(step + at / TILE) * n + of_b] : bf16(0.0f);
        }
        __syncthreads();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            unsigned of_a[4], of_b[2][4];
            load_matrices(of_a, &tile_a[row + lane % 16][inner + lane / 16 * 8]);
            load_matrices_transposed(of_b[0], &tile_b[inner + lane % 16][column + lane / 16 * 8]);
            load_matrices_transposed(of_b[1], &tile_b[inner + lane % 16][column + 16 + lane / 16 * 8]);
#pragma unroll
            for (int j = 0; j < 4; j++) multiply(sums[j], of_a, of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const size_t r = top + row + i / 2 * 8 + lane / 4, at = left + column + 8 * j + lane % 4 * 2 + i % 2;
            if (r < m && at < n) c[r * n + at] = __float2bfloat16(sums[j][i]);
        }
    }
}
