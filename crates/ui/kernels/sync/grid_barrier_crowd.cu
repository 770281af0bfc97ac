// A barrier of the whole grid, made of an atomic, with one block more than fit on the device at once.
// fail: E-BUDGET
// launch: meet<<<265, 1024>>>(count: u32[1] zero, y: u32[265] uninit)
extern "C" __global__ void meet(unsigned* count, unsigned* y) {
    if (threadIdx.x == 0) {
        y[blockIdx.x] = blockIdx.x;
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
    }
}
