// One tile in shared memory, read down its columns. The kernels differ in where an element lies.

const int WORDS = 32 * 33;

// ANCHOR: read
// At step k, lane l reads the word place(l, k), and all 32 lanes do so at once. The tile is
// volatile: each step stays one load of four bytes, where the compiler would make wider ones.
template <class Place>
__device__ __forceinline__ void read(float* sums, int rounds, Place place) {
    __shared__ volatile float tile[WORDS];
    for (int word = threadIdx.x; word < WORDS; word += blockDim.x) tile[word] = word % 64;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int k = 0; k < 32; k++) sum += tile[place(lane, k)];
        __syncthreads();
    }
    sums[threadIdx.x] = sum;
}
// ANCHOR_END: read

// ANCHOR: places
extern "C" __global__ void stride_1(float* sums, int rounds) {
    read(sums, rounds, [](int lane, int k) { return lane + k; });
}
extern "C" __global__ void stride_2(float* sums, int rounds) {
    read(sums, rounds, [](int lane, int k) { return 2 * lane + k; });
}
extern "C" __global__ void stride_32(float* sums, int rounds) {
    read(sums, rounds, [](int lane, int k) { return 32 * lane + k; });
}
extern "C" __global__ void padded_33(float* sums, int rounds) {
    read(sums, rounds, [](int lane, int k) { return 33 * lane + k; });
}
extern "C" __global__ void swizzled(float* sums, int rounds) {
    read(sums, rounds, [](int lane, int k) { return 32 * lane + (k ^ lane); });
}
// ANCHOR_END: places
