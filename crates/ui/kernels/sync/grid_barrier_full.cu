// The same barrier with as many blocks as fit.
// pass
// near: sync/grid_barrier_crowd
// launch: meet<<<264, 1024>>>(count: u32[1] zero, y: u32[264] uninit)
extern "C" __global__ void meet(unsigned* count, unsigned* y) {
    if (threadIdx.x == 0) {
        y[blockIdx.x] = blockIdx.x;
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
    }
}
