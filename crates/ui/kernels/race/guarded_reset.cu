// While some do the guarded maximum, another starts again at zero: who has seen the old one leaves its own out.
// fail: E-RACE-BLOCKS, W-RACE-IDIOM
// launch: maximum<<<4, 1>>>(x: i32[4], best: i32[1] zero)
extern "C" __global__ void maximum(const int* x, int* best) {
    if (blockIdx.x == 3) {
        atomicExch(best, 0);
    } else {
        int v = x[blockIdx.x];
        if (v > *best) atomicMax(best, v);
    }
}
