// Relaxing edges: a plain read spares the atomic minimum, and who has lowered the distance queues the node.
// fail: W-RACE-IDIOM
// launch: relax<<<4, 32>>>(length: i32[128], far: i32[8] all 1000000, queue: i32[128] uninit, count: i32[1] zero)
extern "C" __global__ void relax(const int* length, int* far, int* queue, int* count) {
    int i = blockIdx.x * 32 + threadIdx.x, node = i & 7, d = 1000 - length[i];
    if (d < far[node]) {
        int old = atomicMin(&far[node], d);
        if (d < old) {
            int at = atomicAdd(count, 1);
            queue[at] = node;
        }
    }
}
