// The node is queued by all that the plain read lets pass, whatever the atomic minimum has found.
// fail: E-RACE-BLOCKS
// launch: relax<<<4, 1>>>(length: i32[4], far: i32[1] all 1000000, queue: i32[4] uninit, count: i32[1] zero)
extern "C" __global__ void relax(const int* length, int* far, int* queue, int* count) {
    int d = 1000 - length[blockIdx.x];
    if (d < *far) {
        int old = atomicMin(far, d);
        if (d < old) atomicAdd(count, 1);
        queue[blockIdx.x] = d;
    }
}
