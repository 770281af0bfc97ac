// Prefix sums of blocks in three ways, and sums of segments.
// by others
// sweep: n = 2^16 1000000 2^24 2^27; block = 256
// sweep: n = 2^24; block = 64 1024
// launch: scan_hillis_steele<<<{ceil(n, block)}, {block}, {8 * block}>>>(in: f32[{n}], out: f32[{n}] uninit, block_sums: f32[{ceil(n, block)}] uninit, n: i32 = {n})
// launch: scan_blelloch<<<{ceil(n, 2 * block)}, {block}, {8 * block}>>>(g_idata: i32[{n}], g_odata: i32[{n}] uninit, sums: i32[{ceil(n, 2 * block)}] uninit, n: i32 = {n})
// launch: scan_blelloch_padded<<<{ceil(n, 2 * block)}, {block}, {8 * block + block / 4}>>>(g_idata: i32[{n}], g_odata: i32[{n}] uninit, sums: i32[{ceil(n, 2 * block)}] uninit, n: i32 = {n})
// sweep: n = 2^16 2^20 2^24 2^27
// launch: scan_shuffle_x4<<<{ceil(n, 1024)}, 256>>>(in: u32[{n}], out: u32[{n}] uninit, totals: u32[{ceil(n, 1024)}] uninit, n: u32 = {n})
// sweep: rows = 2^10 2^14 2^18; columns = 60 200; block = 128
// launch: row_scan_warp<<<{ceil(rows, block / 32)}, {block}>>>(x: f64[{rows * columns}], y: f64[{rows * columns}] uninit, rows: i32 = {rows}, columns: i32 = {columns})
// sweep: segments = 2^12 2^16 2^20; block = 256
// sweep: segments = 2^18; block = 64 1024
// launch: segment_sums<<<{ceil(segments, block / 32)}, {block}>>>(values: f32[{64 * segments}], sums: f32[{segments}] uninit, segments: i32 = {segments})
// sweep: columns = 24 100; rows = 2^12 2^16 2^20; block = 256
// launch: short_row_sums<<<{ceil(rows, block / 8)}, {block}>>>(x: f32[{rows * columns}], sums: f32[{rows}] uninit, rows: i32 = {rows}, columns: i32 = {columns})

// Two buffers that change their roles.
extern "C" __global__ void scan_hillis_steele(const float* in, float* out, float* block_sums, int n) {
    extern __shared__ float temp[];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    int pout = 0, pin = 1;
    temp[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (tid >= offset) {
            temp[pout * blockDim.x + tid] = temp[pin * blockDim.x + tid] + temp[pin * blockDim.x + tid - offset];
        } else {
            temp[pout * blockDim.x + tid] = temp[pin * blockDim.x + tid];
        }
        __syncthreads();
    }
    if (i < n) out[i] = temp[pout * blockDim.x + tid];
    if (tid == blockDim.x - 1) block_sums[blockIdx.x] = temp[pout * blockDim.x + tid];
}

// Up a tree and down again: first with banks in conflict, then with a gap after every 32 elements.
struct Plain {
    static __device__ int at(int i) { return i; }
};
struct Padded {
    static __device__ int at(int i) { return i + (i >> 5); }
};
template <class Layout>
__device__ void blelloch(int* temp, const int* g_idata, int* g_odata, int* sums, int n) {
    int tid = threadIdx.x, size = 2 * blockDim.x, first = blockIdx.x * size;
    for (int e = tid; e < size; e += blockDim.x) temp[Layout::at(e)] = first + e < n ? g_idata[first + e] : 0;
    int offset = 1;
    for (int d = size >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1, bi = offset * (2 * tid + 2) - 1;
            temp[Layout::at(bi)] += temp[Layout::at(ai)];
        }
        offset *= 2;
    }
    if (tid == 0) {
        sums[blockIdx.x] = temp[Layout::at(size - 1)];
        temp[Layout::at(size - 1)] = 0;
    }
    for (int d = 1; d < size; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1, bi = offset * (2 * tid + 2) - 1;
            int t = temp[Layout::at(ai)];
            temp[Layout::at(ai)] = temp[Layout::at(bi)];
            temp[Layout::at(bi)] += t;
        }
    }
    __syncthreads();
    for (int e = tid; e < size && first + e < n; e += blockDim.x) g_odata[first + e] = temp[Layout::at(e)];
}
extern "C" __global__ void scan_blelloch(const int* g_idata, int* g_odata, int* sums, int n) {
    extern __shared__ int elements[];
    blelloch<Plain>(elements, g_idata, g_odata, sums, n);
}
extern "C" __global__ void scan_blelloch_padded(const int* g_idata, int* g_odata, int* sums, int n) {
    extern __shared__ int elements[];
    blelloch<Padded>(elements, g_idata, g_odata, sums, n);
}

__device__ __forceinline__ unsigned warp_inclusive(unsigned v, unsigned lane) {
#pragma unroll
    for (unsigned d = 1; d < 32; d <<= 1) {
        unsigned left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += left;
    }
    return v;
}
extern "C" __global__ void __launch_bounds__(256)
scan_shuffle_x4(const uint4* __restrict__ in, uint4* __restrict__ out, unsigned* __restrict__ totals, unsigned n) {
    __shared__ unsigned warp_sums[8];
    const unsigned i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint4 v = i < n / 4 ? in[i] : make_uint4(0, 0, 0, 0);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    unsigned inclusive = warp_inclusive(v.w, lane);
    if (lane == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    if (warp == 0) {
        unsigned sum = warp_inclusive(lane < 8 ? warp_sums[lane] : 0, lane);
        if (lane < 8) warp_sums[lane] = sum;
    }
    __syncthreads();
    const unsigned before = inclusive - v.w + (warp > 0 ? warp_sums[warp - 1] : 0);
    if (i < n / 4) out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
    if (threadIdx.x == 255) totals[blockIdx.x] = before + v.w;
}

extern "C" __global__ void row_scan_warp(const double* x, double* y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += (size_t)row * columns;
    y += (size_t)row * columns;
    double carry = 0.0;
    for (int base = 0; base < columns; base += 32) {
        double v = base + lane < columns ? x[base + lane] : 0.0;
        for (int d = 1; d < 32; d *= 2) {
            double left = __shfl_up_sync(~0u, v, d);
            if (lane >= d) v += left;
        }
        v += carry;
        if (base + lane < columns) y[base + lane] = v;
        carry = __shfl_sync(~0u, v, 31);
    }
}

// Segments of 32, 40, ..., 96 elements, one after the other: a warp has one.
__device__ int segment_begin(int s) {
    int of_nine = s % 9;
    return s / 9 * 576 + of_nine * 32 + of_nine * (of_nine - 1) * 4;
}
extern "C" __global__ void segment_sums(const float* __restrict__ values, float* sums, int segments) {
    int s = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (s >= segments) return;
    float sum = 0.0f;
    for (int i = segment_begin(s) + lane, end = segment_begin(s + 1); i < end; i += warpSize) sum += values[i];
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) sums[s] = sum;
}

// Eight threads have a row.
extern "C" __global__ void short_row_sums(const float* x, float* sums, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 3, lane = threadIdx.x & 7;
    float sum = 0.0f;
    if (row < rows) {
        const float4* own = reinterpret_cast<const float4*>(x + (size_t)row * columns);
        for (int c = lane; c < columns / 4; c += 8) {
            float4 v = own[c];
            sum += v.x + v.y + v.z + v.w;
        }
    }
    sum += __shfl_xor_sync(~0u, sum, 4);
    sum += __shfl_xor_sync(~0u, sum, 2);
    sum += __shfl_xor_sync(~0u, sum, 1);
    if (row < rows && lane == 0) sums[row] = sum;
}
