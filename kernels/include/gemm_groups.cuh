// Products of matrices by warp groups of sm_90a: one thread starts copies of boxes of both factors to a
// ring of stages, and eight warps multiply them. A block goes from tile to tile of the product.
#pragma once
#include "mbarrier.cuh"
#include "tensor.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

// ANCHOR: ring
const int ROWS = 128, COLUMNS = 256, DEPTH = 64, STAGES = 4;

// Two warp groups multiply the tile's upper and lower half.
struct Stage {
    Box<64> a[ROWS / 64];
    Box<64> b[COLUMNS / 64];
};

struct Ring {
    Stage stages[STAGES];
    // Of each stage: its copies have come, and all eight warps have used it.
    Mbarrier full[STAGES], empty[STAGES];

    // One thread. Before other threads use it, there must be a barrier.
    __device__ void init() {
        for (int stage = 0; stage < STAGES; stage++) {
            full[stage].init(1);
            empty[stage].init(8);
        }
    }
    // A warp has used a stage.
    __device__ void release(unsigned stage) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) empty[stage].arrive();
    }
};

// Where a warp is in the ring. Each time around, the barriers are in another phase.
struct Turn {
    unsigned stage = 0, parity = 0;
    __device__ void next() {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};
// ANCHOR_END: ring

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

// ANCHOR: load
// One thread. It is ahead of those that multiply by as many steps as there are stages.
__device__ __forceinline__ void load_factors(Ring& ring, Turn& turn, const TensorMap& a,
                                             const TensorMap& b, unsigned row, unsigned column,
                                             unsigned steps) {
    for (unsigned step = 0; step < steps; step++, turn.next()) {
        Stage& stage = ring.stages[turn.stage];
        Mbarrier& full = ring.full[turn.stage];
        // At first the stages are empty: the phase before the first counts as ended.
        ring.empty[turn.stage].wait(turn.parity ^ 1);
        full.arrive_and_expect(sizeof(Stage));
        for (int i = 0; i < ROWS / 64; i++)
            load_box(&stage.a[i], a, step * DEPTH, row + i * 64, full);
        for (int i = 0; i < COLUMNS / 64; i++)
            load_box(&stage.b[i], b, column + i * 64, step * DEPTH, full);
    }
}
// ANCHOR_END: load

// ANCHOR: multiply
// A warp group multiplies 64 rows of a tile.
__device__ __forceinline__ void multiply_tile(float (&sums)[COLUMNS / 2], Ring& ring, Turn& turn,
                                              unsigned steps) {
    const int group = threadIdx.x / 128 - 1;
    unsigned before = 0;
    for (unsigned step = 0; step < steps; step++, turn.next()) {
        const Stage& stage = ring.stages[turn.stage];
        ring.full[turn.stage].wait(turn.parity);
        begin_products();
#pragma unroll
        for (int inner = 0; inner < DEPTH; inner += 16) {
            multiply(sums, descriptor(&stage.a[group].rows[0][inner], 0),
                     descriptor(&stage.b[0].rows[inner][0], sizeof(stage.b[0])),
                     step > 0 || inner > 0);
        }
        commit_products();
        // The tensor cores have the products of this step to do, while those of the step before
        // are done.
        wait_for_products<1>();
        if (step > 0) ring.release(before);
        before = turn.stage;
    }
    wait_for_products<0>();
    ring.release(before);
}
// ANCHOR_END: multiply

// ANCHOR: registers
// A thread has 168 registers at first. The group that copies keeps 40, so that those that
// multiply can have 232: 128 * 40 + 256 * 232 are no more than 384 * 168.
__device__ __forceinline__ void keep_few_registers() { keep_registers<40>(); }
__device__ __forceinline__ void take_many_registers() { take_registers<232>(); }
// ANCHOR_END: registers
