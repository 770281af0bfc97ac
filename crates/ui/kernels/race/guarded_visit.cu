// A step of a breadth-first search: a plain read spares the compare-and-swap, and who exchanges queues the node.
// fail: W-RACE-IDIOM
// launch: step<<<4, 32>>>(edge: i32[128], level: i32[64] all -1, queue: i32[64] uninit, count: i32[1] zero)
extern "C" __global__ void step(const int* edge, int* level, int* queue, int* count) {
    int node = edge[blockIdx.x * 32 + threadIdx.x] & 63;
    if (level[node] == -1) {
        if (atomicCAS(&level[node], -1, 1) == -1) queue[atomicAdd(count, 1)] = node;
    }
}
