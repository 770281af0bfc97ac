// A pointer that was stale before anything was launched.
// fail: E-USE-AFTER-FREE
// launch: store<<<1, 32>>>(p: freed[4096])
extern "C" __global__ void store(float* p) {
    p[threadIdx.x] = 1.0f;
}
