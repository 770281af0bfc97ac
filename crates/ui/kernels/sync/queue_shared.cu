// Blocks take tiles from a queue. All of them are there at once, so that none may take every tile.
// pass
// near: sync/queue_one_block
// launch: tiles<<<16, 64>>>(next: i32[1] zero, y: i32[64] zero, taken: i32[16] zero, done: i32[1] zero)
#include <assert.h>
extern "C" __global__ void tiles(int* next, int* y, int* taken, int* done) {
    __shared__ int tile, last;
    int count = 0;
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        if (tile >= 64) break;
        if (threadIdx.x == 0) y[tile] = blockIdx.x + 1;
        count++;
    }
    if (threadIdx.x == 0) {
        taken[blockIdx.x] = count;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
        __threadfence();
        for (int b = 0; last && b < gridDim.x; b++) assert(taken[b] > 0);
    }
}
