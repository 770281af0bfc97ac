// A thread reads past its array, where the frame of a function was that has returned.
// fail: E-OOB-LOCAL
// launch: pick<<<1, 4>>>(which: i32[4] all 12, y: i32[4] uninit)
__device__ __noinline__ int digits(int n, const int* which) {
    int found[16];
    for (int k = 0; k < 16; k++) found[k] = (n + k) % 10;
    return found[which[0]];
}
extern "C" __global__ void pick(const int* which, int* y) {
    int mine[6];
    for (int k = 0; k < 6; k++) mine[k] = digits(k, which);
    y[threadIdx.x] = mine[which[threadIdx.x]];
}
