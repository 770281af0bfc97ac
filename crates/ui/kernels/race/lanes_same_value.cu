// Lanes of one store share elements, and those that share one store the same.
// fail: W-RACE-BENIGN
// launch: mark<<<1, 32>>>(y: i32[8] uninit)
extern "C" __global__ void mark(int* y) {
    y[threadIdx.x % 8] = 2 + threadIdx.x % 8;
}
