// Kernels that the measurement needs around the ones that it measures.

// Kernels that only move bytes: READS vectors of 16 bytes in, WRITES out, for each of `groups` groups. A thread takes
// STEP groups and reads all of theirs before it writes; which STEP is fastest depends on the device.
template <int STEP>
__device__ void move(const uint4* __restrict__ in, uint4* __restrict__ out, size_t groups) {
    size_t first = (size_t)blockIdx.x * blockDim.x * STEP + threadIdx.x;
    uint4 sum[STEP];
#pragma unroll
    for (int s = 0; s < STEP; s++) {
        size_t group = first + (size_t)s * blockDim.x;
        sum[s] = make_uint4(0, 0, 0, 0);
        if (group >= groups) continue;
#pragma unroll
        for (int r = 0; r < READS; r++) {
            uint4 v = in[r * groups + group];
            sum[s].x ^= v.x;
            sum[s].y ^= v.y;
            sum[s].z ^= v.z;
            sum[s].w ^= v.w;
        }
    }
#pragma unroll
    for (int s = 0; s < STEP; s++) {
        size_t group = first + (size_t)s * blockDim.x;
        if (group >= groups) continue;
#pragma unroll
        for (int w = 0; w < WRITES; w++) out[w * groups + group] = sum[s];
    }
}

extern "C" __global__ void move1(const uint4* in, uint4* out, size_t groups) { move<1>(in, out, groups); }
extern "C" __global__ void move2(const uint4* in, uint4* out, size_t groups) { move<2>(in, out, groups); }
extern "C" __global__ void move4(const uint4* in, uint4* out, size_t groups) { move<4>(in, out, groups); }

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
