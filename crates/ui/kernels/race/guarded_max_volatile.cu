// The guard reads through a volatile pointer.
// pass
// near: race/guarded_plain_store
// launch: maximum<<<4, 32>>>(x: i32[128], best: i32[1] zero)
extern "C" __global__ void maximum(const int* x, int* best) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    if (v > *(volatile int*)best) atomicMax(best, v);
}
