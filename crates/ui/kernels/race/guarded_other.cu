// The plain read decides about an atomic on another place.
// fail: E-RACE-BLOCKS, E-RACE-GLOBAL
// launch: maximum<<<4, 32>>>(x: i32[128], best: i32[1] zero, beaten: i32[1] zero)
extern "C" __global__ void maximum(const int* x, int* best, int* beaten) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    if (v > *best) atomicAdd(beaten, 1);
    atomicMax(best, v);
}
