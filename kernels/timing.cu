// Kernels that run around timed ones.

// Reads a buffer larger than the L2, so that nothing of what ran before is left in it, and nothing
// is left to be written back: a memset would leave the whole cache dirty, and the next kernel
// would pay for it.
extern "C" __global__ void flush_l2(const uint4* __restrict__ buffer, unsigned int* sink, size_t n) {
    unsigned int sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = buffer[i];
        sum |= v.x | v.y | v.z | v.w;
    }
    // Never true of what the buffer holds; but the compiler cannot know, so it must read.
    if (sum == 0xdeadbeef) *sink = sum;
}

// Keeps the device busy for so many clock cycles, while the host queues what is to be timed.
extern "C" __global__ void hold(long long cycles) {
    const long long begun = clock64();
    while (clock64() - begun < cycles) {
    }
}
