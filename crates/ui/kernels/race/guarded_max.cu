// Only who has more than the best so far does the atomic; the result is the maximum whatever was read.
// fail: W-RACE-IDIOM
// launch: maximum<<<2, 64>>>(x: i32[512], best: i32[1] zero, n: i32 = 512)
extern "C" __global__ void maximum(const int* x, int* best, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int v = x[i];
        if (v > *best) atomicMax(best, v);
    }
}
