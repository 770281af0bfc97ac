// Kernels that the measurement needs around the ones that it measures.

// Reads a buffer that is larger than the L2, so that nothing else is left in it and no dirty line either. The sum is
// written only for a value that it never has, which the compiler cannot know.
extern "C" __global__ void flush(const uint4* __restrict__ buffer, size_t count, unsigned* sink) {
    unsigned sum = 0;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = buffer[i];
        sum |= v.x | v.y | v.z | v.w;
    }
    if (sum == 0xdeadbeef) *sink = sum;
}

// A kernel that only moves bytes: READS vectors of 16 bytes in, WRITES out, for each of `groups` groups.
extern "C" __global__ void mix(const uint4* __restrict__ in, uint4* __restrict__ out, size_t groups) {
    size_t group = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    uint4 v[READS];
#pragma unroll
    for (int r = 0; r < READS; r++) v[r] = in[r * groups + group];
    uint4 sum = v[0];
#pragma unroll
    for (int r = 1; r < READS; r++) {
        sum.x ^= v[r].x;
        sum.y ^= v[r].y;
        sum.z ^= v[r].z;
        sum.w ^= v[r].w;
    }
#pragma unroll
    for (int w = 0; w < WRITES; w++) out[w * groups + group] = sum;
}

// Adds a number to `sum` that depends on every byte and its place, and not on the order of the threads.
extern "C" __global__ void checksum(const unsigned char* bytes, size_t count, unsigned long long* sum) {
    const unsigned* words = (const unsigned*)bytes;
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long mine = 0;
    for (size_t i = thread; i < count / 4; i += (size_t)gridDim.x * blockDim.x) {
        unsigned long long x = ((unsigned long long)words[i] << 32 | (unsigned)i) * 0x9e3779b97f4a7c15ull;
        x ^= x >> 29;
        mine += x * 0xbf58476d1ce4e5b9ull;
    }
    if (thread < count % 4) {
        size_t i = count / 4 * 4 + thread;
        unsigned long long x = ((unsigned long long)bytes[i] << 32 | (unsigned)i) * 0x94d049bb133111ebull;
        mine += x ^ x >> 31;
    }
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
