// A lock in shared memory for the warps of a block, without fences.
// fail: E-RACE-SHARED
// launch: add<<<1, 128>>>(out: f32[1] uninit)
extern "C" __global__ void add(float* out) {
    __shared__ int lock;
    __shared__ float total;
    if (threadIdx.x == 0) { lock = 0; total = 0.0f; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        total += 1.5f;
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}
