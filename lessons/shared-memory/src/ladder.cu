// Chains: each step needs the result of the step before it.

// Writes the first `links` links of a chain over an array of mask + 1 words, a power of two. The
// chain goes on in steps of `stride` words, which is 32 times an odd number: so it comes to every
// line before it comes to one again.
extern "C" __global__ void link(int* x, int stride, int mask, int links) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < links) x[(size_t)k * stride & mask] = (int)((size_t)(k + 1) * stride & mask);
}

// ANCHOR: global
// One thread. The word that it loads is the index of the next.
extern "C" __global__ void chase_global(const int* x, int* last, int steps) {
    int i = 0;
    for (int k = 0; k < steps; k++) i = x[i];
    *last = i;
}
// ANCHOR_END: global

// ANCHOR: shared
// The same in shared memory. There is one warp, and each lane follows a chain in its own bank.
extern "C" __global__ void chase_shared(int* last, int steps) {
    __shared__ int s[1024];
    for (int k = threadIdx.x; k < 1024; k += 32) s[k] = (k + 32) % 1024;
    __syncthreads();
    int i = threadIdx.x;
    for (int k = 0; k < steps; k++) i = s[i];
    if (threadIdx.x == 0) *last = i;
}
// ANCHOR_END: shared

// ANCHOR: registers
// A chain of multiply-adds: the value never leaves its register.
extern "C" __global__ void chain_registers(float* last, float a, float b, int steps) {
    float v = 0.0f;
#pragma unroll 16
    for (int k = 0; k < steps; k++) v = v * a + b;
    *last = v;
}
// ANCHOR_END: registers
