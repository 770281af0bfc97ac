// Sparse matrices, bins, strides, lists and compaction: what is read or written where depends on numbers.
// by others
// sweep: rows = 2^12 2^15 2^18 2^20; width = 16 64; block = 128
// launch: spmv_csr_scalar<<<{ceil(rows, block)}, {block}>>>(values: f32[{rows * width}], columns: i32[{rows * width}], x: f32[{rows}], y: f32[{rows}] uninit, rows: i32 = {rows}, width: i32 = {width})
// sweep: rows = 2^12 2^15 2^18; width = 40 200; block = 256
// launch: spmv_csr_warp<<<{ceil(rows, block / 32)}, {block}>>>(values: f64[{rows * width}], columns: i32[{rows * width}], x: f64[{rows}], y: f64[{rows}] uninit, rows: u64 = {rows}, width: u64 = {width})
// sweep: n = 2^16 2^20 2^24 2^28; blocks = 132*2
// sweep: n = 2^24; blocks = 132*8
// launch: histogram_per_warp<<<{blocks}, 256>>>(bytes: u8[{n}], bins: u32[256] zero, words: u32 = {n / 4})
// sweep: n = 2^18 2^25; stride = 2 33 1025; block = 256
// launch: gather_strided<<<{ceil(n, block)}, {block}>>>(in: f32[{n}], out: f32[{n}] uninit, n: i32 = {n}, stride: i32 = {stride})
// sweep: n = 2^18 2^24; stride = 3 33 1025; block = 256
// launch: scatter_strided<<<{ceil(n, 4 * block)}, {block}>>>(in: f64[{n}], out: f64[{n}] uninit, n: u64 = {n}, stride: u64 = {stride})
// sweep: n = 2^14 2^27; threads = 64 4096 132*256; block = 64
// sweep: n = 2^20; threads = 2^16; block = 32 256
// launch: chase_links<<<{threads / block}, {block}>>>(links: i32[{n}], last: i32[{threads}] uninit, steps: i32 = 256, mask: i32 = {n - 1})
// sweep: n = 2^16 1000000 2^24 2^26; block = 256
// sweep: n = 2^22; block = 64 1024
// launch: compact_ballot<<<{ceil(n, block)}, {block}>>>(in: f32[{n}], out: f32[{n}] uninit, counter: u32[1] zero, blocks_done: u32[1] zero, found: u32[1] uninit, n: u32 = {n})
// launch: compact_blocks<<<{ceil(n, block)}, {block}>>>(in: i32[{n}], out: i32[{n}] uninit, counts: i32[{ceil(n, block)}] uninit, n: i32 = {n})

// The rows of a band matrix have a place for `width` elements, and the last of them are empty in some.
__device__ int row_length(int row, int width) {
    return width - (row & 7);
}
extern "C" __global__ void spmv_csr_scalar(const float* values, const int* columns, const float* x, float* y, int rows,
                                           int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float dot = 0;
        int row_start = row * width;
        int row_end = row_start + row_length(row, width);
        for (int jj = row_start; jj < row_end; jj++) dot += values[jj] * x[(row & ~127) + columns[jj]];
        y[row] = dot;
    }
}
// The same with a warp for each row, and columns that are far apart.
extern "C" __global__ void spmv_csr_warp(const double* __restrict__ values, const int* __restrict__ columns,
                                         const double* __restrict__ x, double* __restrict__ y, size_t rows,
                                         size_t width) {
    const size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const unsigned lane = threadIdx.x % 32;
    if (row >= rows) return;
    const size_t begin = row * width, end = begin + row_length((int)row, (int)width);
    double sum = 0.0;
    for (size_t j = begin + lane; j < end; j += 32) {
        const size_t column = (row + (size_t)columns[j] * 509) % rows;
        sum += values[j] * __ldg(x + column);
    }
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) y[row] = sum;
}

// Each warp has bins of its own, and reads four bytes at a time.
extern "C" __global__ void histogram_per_warp(const unsigned* bytes, unsigned* bins, unsigned words) {
    __shared__ unsigned own[8][256];
    for (unsigned i = threadIdx.x; i < 8 * 256; i += 256) own[i / 256][i % 256] = 0;
    __syncthreads();
    unsigned* mine = own[threadIdx.x / 32];
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < words; i += gridDim.x * 256) {
        unsigned four = bytes[i];
        atomicAdd(&mine[four & 0xff], 1u);
        atomicAdd(&mine[four >> 8 & 0xff], 1u);
        atomicAdd(&mine[four >> 16 & 0xff], 1u);
        atomicAdd(&mine[four >> 24], 1u);
    }
    __syncthreads();
    unsigned sum = 0;
    for (unsigned w = 0; w < 8; w++) sum += own[w][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

extern "C" __global__ void gather_strided(const float* in, float* out, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[(long long)i * stride % n];
}
// Strides are odd and n is a power of two, so that no place is written twice.
extern "C" __global__ void scatter_strided(const double* in, double* out, size_t n, size_t stride) {
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (i < n) out[(i * stride) & (n - 1)] = in[i];
        i += threads;
    }
}

// Every thread follows links from its own place.
extern "C" __global__ void chase_links(const int* links, int* last, int steps, int mask) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int node = thread * 7919 & mask;
    for (int s = 0; s < steps; s++) {
        int link = links[node];
        node = (int)(node * 1664525u + 1013904223u + link) & mask;
    }
    last[thread] = node;
}

__device__ bool is_kept(unsigned i) {
    return (i * 2654435761u >> 16) % 3 == 0;
}
// The last block leaves the counter as it found it.
extern "C" __global__ void compact_ballot(const float* in, float* out, unsigned* counter, unsigned* blocks_done,
                                          unsigned* found, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool keep = i < n && is_kept(i);
    unsigned kept = __ballot_sync(0xffffffff, keep), base = 0;
    if (lane == 0 && kept != 0) base = atomicAdd(counter, __popc(kept));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicInc(blocks_done, gridDim.x - 1) == gridDim.x - 1) *found = atomicExch(counter, 0u);
    }
}
// Every block packs its own elements where they were.
extern "C" __global__ void compact_blocks(const int* in, int* out, int* counts, int n) {
    __shared__ int packed[1024];
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 4 != 1) packed[atomicAdd(&count, 1)] = in[i];
    __syncthreads();
    if (threadIdx.x < count) out[i] = packed[threadIdx.x];
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
