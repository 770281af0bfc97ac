// A mistake made on purpose: scores are read before they are made. Of two products the first one has ended, and that is not theirs.
// The lines that start the scores belong before those that start the results.
//
// play: y = f32[128], print 4
// play: attend<<<1, 128>>>(y)
#include "tma.cuh"
#include "wgmma.cuh"

__global__ void attend(float* y) {
    // Queries, keys and values are the same here: 1 everywhere, in bf16.
    __shared__ __align__(1024) unsigned short rows[128][64];
    for (int i = threadIdx.x; i < 128 * 64; i += 128) rows[i / 64][i % 64] = 0x3f80;
    show_to_copies();
    __syncthreads();

    const unsigned weights[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};
    float scores[64], results[32] = {};
    pin(scores);
    pin(results);
    begin_products();
    multiply(results, weights, descriptor(rows, 0));
    commit_products();
    multiply_transposed(scores, descriptor(rows, 0), descriptor(rows, 0), false);
    commit_products();
    wait_for_products<1>();
    pin(scores);
    float largest = scores[0];
    for (int i = 1; i < 64; i++) largest = fmaxf(largest, scores[i]);
    wait_for_products<0>();
    pin(results);
    y[threadIdx.x] = results[0] / largest;
}
