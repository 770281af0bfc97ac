// out[r][c] is the mean of x[r][c - 4] to x[r][c + 4]; what lies outside of the row counts as 0.
// Each element of x is needed nine times. The kernels differ in where it waits in between.

const int RADIUS = 4;
const int THREADS = 256;
const float SHARE = 1.0f / (2 * RADIUS + 1);

// The number of blocks for a row is `blocks`; a block's part of its row begins at `first`.
__device__ __forceinline__ void find_row(const float*& x, float*& out, size_t columns, int blocks,
                                         int& first, int each) {
    x += blockIdx.x / blocks * columns;
    out += blockIdx.x / blocks * columns;
    first = blockIdx.x % blocks * each;
}

// ANCHOR: global
// Nine loads from global memory per element. L1 has what the neighbours have loaded.
extern "C" __global__ void __launch_bounds__(THREADS)
mean_global(const float* x, float* out, size_t columns, int blocks) {
    int first;
    find_row(x, out, columns, blocks, first, THREADS);
    const int c = first + threadIdx.x, length = columns;
    float sum = 0.0f;
#pragma unroll
    for (int d = -RADIUS; d <= RADIUS; d++) {
        if (0 <= c + d && c + d < length) sum += x[c + d];
    }
    if (c < length) out[c] = sum * SHARE;
}
// ANCHOR_END: global

// ANCHOR: shared
// One load from global memory per element, and nine from a tile in shared memory.
extern "C" __global__ void __launch_bounds__(THREADS)
mean_shared(const float* x, float* out, size_t columns, int blocks) {
    __shared__ float tile[THREADS + 2 * RADIUS];
    int first;
    find_row(x, out, columns, blocks, first, THREADS);
    const int length = columns;
    for (int t = threadIdx.x; t < THREADS + 2 * RADIUS; t += THREADS) {
        const int c = first - RADIUS + t;
        tile[t] = 0 <= c && c < length ? x[c] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int d = 0; d <= 2 * RADIUS; d++) sum += tile[threadIdx.x + d];
    if (first + threadIdx.x < length) out[first + threadIdx.x] = sum * SHARE;
}
// ANCHOR_END: shared

// ANCHOR: registers
// A thread has four neighbouring results. It needs twelve elements: three loads of 16 bytes.
extern "C" __global__ void __launch_bounds__(THREADS)
mean_registers(const float* x, float* out, size_t columns, int blocks) {
    int first;
    find_row(x, out, columns, blocks, first, 4 * THREADS);
    const int c = first + 4 * threadIdx.x, length = columns;
    float v[12] = {};
#pragma unroll
    for (int p = 0; p < 3; p++) {
        const int at = c - RADIUS + 4 * p;
        if (0 <= at && at < length) {
            const float4 four = *(const float4*)(x + at);
            v[4 * p] = four.x;
            v[4 * p + 1] = four.y;
            v[4 * p + 2] = four.z;
            v[4 * p + 3] = four.w;
        }
    }
    float mean[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float sum = 0.0f;
#pragma unroll
        for (int d = 0; d <= 2 * RADIUS; d++) sum += v[j + d];
        mean[j] = sum * SHARE;
    }
    if (c < length) {
        *(float4*)(out + c) = make_float4(mean[0], mean[1], mean[2], mean[3]);
    }
}
// ANCHOR_END: registers
