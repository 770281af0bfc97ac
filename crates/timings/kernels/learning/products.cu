// Products of matrices and vectors, of many small matrices, on tensor cores, and convolutions.
// by others
// sweep: rows = 1001 4096; columns = 1024 4096 14336
// sweep: rows = 16384; columns = 8192
// launch: gemv_f16_warp<<<{ceil(rows, 4)}, (32,4)>>>(w: f16[{rows * columns}], x: f16[{columns}], y: f16[{rows}] uninit, rows: i32 = {rows}, packs: i32 = {columns / 8})
// sweep: rows = 768 4096; columns = 4096 16384; splits = 1 8
// launch: gemv_i8_split_k<<<({ceil(rows, 8)},{splits}), (32,8)>>>(w: i8[{rows * columns}], x: i8[{columns}], unit: f32[{rows}], y: f32[{rows}] zero, rows: i32 = {rows}, packs: i32 = {columns / 16})
// sweep: m = 100 1000; n = 1000; k = 500
// sweep: m = 2048; n = 2048 128; k = 512 2048
// launch: sgemm_64_prefetch<<<({ceil(n, 64)},{ceil(m, 64)}), 256>>>(m: i32 = {m}, n: i32 = {n}, k: i32 = {k}, alpha: f32 = 1.5, a: f32[{m * k}], b: f32[{k * n}], beta: f32 = 0.5, c: f32[{m * n}])
// sweep: n = 8 16 32; each = max(1,1024/(n*n)); batch = 1001 2^25/(n*n)
// launch: matmul_batched_small<<<{ceil(batch, each)}, ({n},{n},{each}), {8 * n * n * each}>>>(a: f32[{batch * n * n}], b: f32[{batch * n * n}], c: f32[{batch * n * n}] uninit, n: i32 = {n}, batch: i32 = {batch})
// sweep: m = 16 1008 2048; n = 512 2048; k = 496
// launch: gemm_wmma_plain<<<({ceil(m, 64)},{ceil(n, 64)}), (128,4)>>>(a: f16[{m * k}], b: f16[{n * k}], c: f32[{m * n}] uninit, m: i32 = {m}, n: i32 = {n}, k: i32 = {k})
// sweep: m = 256 2048; n = 1024 2048; k = 256 2048
// launch: gemm_wmma_shared<<<({n / 64},{m / 64}), 128>>>(a: f16[{m * k}], b: f16[{k * n}], c: f32[{m * n}] uninit, n: i32 = {n}, k: i32 = {k})
// sweep: samples = 1 8; channels = 64; outputs = 64; side = 28 56
// sweep: samples = 1; channels = 3 128; outputs = 64; side = 112
// launch: conv3x3_direct<<<({ceil(side, 32)},{ceil(side, 8)},{samples * outputs}), (32,8), {36 * channels}>>>(x: f32[{samples * channels * side * side}], w: f32[{outputs * channels * 9}], bias: f32[{outputs}], y: f32[{samples * outputs * side * side}] uninit, channels: i32 = {channels}, outputs: i32 = {outputs}, side: i32 = {side})
// sweep: samples = 1 16; channels = 32 384; side = 56; stride = 1 2; block = 128
// launch: depthwise3x3_nhwc<<<{ceil(samples * (side / stride) * (side / stride) * channels / 4, block)}, {block}>>>(x: f32[{samples * side * side * channels}], w: f32[{9 * channels}], y: f32[{samples * (side / stride) * (side / stride) * channels}] uninit, n: i32 = {samples * (side / stride) * (side / stride) * channels / 4}, packs: i32 = {channels / 4}, side: i32 = {side}, stride: i32 = {stride})
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void gemv_f16_warp(const uint4* w, const uint4* __restrict__ x, half* y, int rows, int packs) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < packs; i += 32) {
        uint4 a = w[(size_t)row * packs + i], b = x[i];
        const half2 *p = (const half2*)&a, *q = (const half2*)&b;
        half2 part = __hmul2(p[0], q[0]);
        for (int k = 1; k < 4; k++) part = __hfma2(p[k], q[k], part);
        sum += __low2float(part) + __high2float(part);
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[row] = __float2half(sum);
}
extern "C" __global__ void gemv_i8_split_k(const int4* w, const int4* x, const float* unit, float* y, int rows, int packs) {
    int row = blockIdx.x * 8 + threadIdx.y, per = (packs - 1) / gridDim.y + 1, first = blockIdx.y * per, sum = 0;
    if (row >= rows) return;
    for (int i = first + threadIdx.x; i < min(packs, first + per); i += 32) {
        int4 a = w[(size_t)row * packs + i], b = __ldg(&x[i]);
        sum = __dp4a(a.x, b.x, __dp4a(a.y, b.y, sum));
        sum = __dp4a(a.z, b.z, __dp4a(a.w, b.w, sum));
    }
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x == 0) atomicAdd(y + row, sum * unit[row]);
}
// Tiles of 64 by 64; a thread has 4 by 4, and loads for the next step while it multiplies. Rows are multiples of 4.
extern "C" __global__ void __launch_bounds__(256) sgemm_64_prefetch(int m, int n, int k, float alpha, const float* a,
                                                                    const float* b, float beta, float* __restrict__ c) {
    __shared__ __align__(16) float as[2][16][68], bs[2][16][64];
    const int t = threadIdx.x, ty = t / 16 * 4, tx = t % 16 * 4, row = blockIdx.y * 64, col = blockIdx.x * 64;
    const int ar = row + t / 4, ak = t % 4 * 4, bk = t / 16, bc = col + tx;
    const float4 zero = make_float4(0, 0, 0, 0);
    auto load_a = [&](int at) { return ar < m && at + ak < k ? *(const float4*)&a[(size_t)ar * k + at + ak] : zero; };
    auto load_b = [&](int at) { return bc < n && at + bk < k ? *(const float4*)&b[(size_t)(at + bk) * n + bc] : zero; };
    float4 next_a = load_a(0), next_b = load_b(0);
    float sum[4][4] = {};
    for (int at = 0, s = 0; at < k; at += 16, s ^= 1) {
        as[s][ak][t / 4] = next_a.x;
        as[s][ak + 1][t / 4] = next_a.y;
        as[s][ak + 2][t / 4] = next_a.z;
        as[s][ak + 3][t / 4] = next_a.w;
        *(float4*)&bs[s][bk][tx] = next_b;
        __syncthreads();
        if (at + 16 < k) next_a = load_a(at + 16), next_b = load_b(at + 16);
#pragma unroll
        for (int e = 0; e < 16; e++) {
            float4 u = *(float4*)&as[s][e][ty], v = *(float4*)&bs[s][e][tx];
            float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
            for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = fmaf(us[i / 4], vs[i % 4], sum[i / 4][i % 4]);
        }
    }
    if (bc >= n) return;
    for (int i = 0; i < 4 && row + ty + i < m; i++) {
        float* out = c + (size_t)(row + ty + i) * n + bc;
        for (int j = 0; j < 4; j++) out[j] = alpha * sum[i][j] + beta * out[j];
    }
}
extern "C" __global__ void matmul_batched_small(const float* a, const float* b, float* c, int n, int batch) {
    extern __shared__ float tiles[];
    int which = blockIdx.x * blockDim.z + threadIdx.z, e = threadIdx.y * n + threadIdx.x;
    float *as = tiles + 2 * n * n * threadIdx.z, *bs = as + n * n, sum = 0.0f;
    size_t at = (size_t)which * n * n + e;
    if (which < batch) as[e] = a[at], bs[e] = b[at];
    __syncthreads();
    if (which >= batch) return;
    for (int k = 0; k < n; k++) sum += as[threadIdx.y * n + k] * bs[k * n + threadIdx.x];
    c[at] = sum;
}
// A warp per tile of 16 by 16, fed from global memory; b is stored by columns.
extern "C" __global__ void gemm_wmma_plain(const half* a, const half* b, float* c, int m, int n, int k) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 16, col = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
    if (row >= m || col >= n) return;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + (size_t)row * k + i, k);
        wmma::load_matrix_sync(fb, b + (size_t)col * k + i, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + (size_t)row * n + col, sum, n, wmma::mem_row_major);
}
// Four warps share tiles of 64 by 32 and 32 by 64; each has 32 by 32 of the block's 64 by 64.
extern "C" __global__ void gemm_wmma_shared(const half* __restrict__ a, const half* b, float* c, int n, int k) {
    __shared__ __align__(32) half as[64][40], bs[32][72];
    const int t = threadIdx.x, r = t / 64 * 32, q = t / 32 % 2 * 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int at = 0; at < k; at += 32) {
        for (int e = t; e < 256; e += 128) {
            *(uint4*)&as[e / 4][e % 4 * 8] = *(const uint4*)(a + (size_t)(row + e / 4) * k + at + e % 4 * 8);
            *(uint4*)&bs[e / 8][e % 8 * 8] = *(const uint4*)(b + (size_t)(at + e / 8) * n + col + e % 8 * 8);
        }
        __syncthreads();
        for (int s = 0; s < 32; s += 16) {
            for (int i = 0; i < 2; i++) wmma::load_matrix_sync(fa[i], &as[r + 16 * i][s], 40);
            for (int j = 0; j < 2; j++) {
                wmma::load_matrix_sync(fb, &bs[s][q + 16 * j], 72);
                for (int i = 0; i < 2; i++) wmma::mma_sync(sum[i][j], fa[i], fb, sum[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        float* out = c + (size_t)(row + r + i / 2 * 16) * n + col + q + i % 2 * 16;
        wmma::store_matrix_sync(out, sum[i / 2][i % 2], n, wmma::mem_row_major);
    }
}
extern "C" __global__ void conv3x3_direct(const float* x, const float* w, const float* bias, float* y, int channels,
                                          int outputs, int side) {
    extern __shared__ float filter[];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int sample = blockIdx.z / outputs, output = blockIdx.z % outputs;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < channels * 9; i += 256) filter[i] = w[output * channels * 9 + i];
    __syncthreads();
    if (col >= side || row >= side) return;
    float sum = bias[output];
    for (int c = 0; c < channels; c++) {
        const float* plane = x + (size_t)(sample * channels + c) * side * side;
        for (int i = row - 1; i <= row + 1; i++) {
            for (int j = col - 1; j <= col + 1; j++) {
                float weight = filter[c * 9 + (i - row + 1) * 3 + j - col + 1];
                if (i >= 0 && i < side && j >= 0 && j < side) sum += plane[i * side + j] * weight;
            }
        }
    }
    y[((size_t)blockIdx.z * side + row) * side + col] = sum;
}
extern "C" __global__ void depthwise3x3_nhwc(const float4* __restrict__ x, const float4* __restrict__ w, float4* y, int n,
                                            int packs, int side, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, out_side = side / stride;
    if (i >= n) return;
    int c = i % packs, place = i / packs, col = place % out_side;
    int row = place / out_side % out_side, sample = place / out_side / out_side;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int tap = 0; tap < 9; tap++) {
        int r = row * stride + tap / 3 - 1, q = col * stride + tap % 3 - 1;
        if (r >= 0 && r < side && q >= 0 && q < side) {
            float4 v = x[((size_t)(sample * side + r) * side + q) * packs + c], f = w[tap * packs + c];
            sum.x += v.x * f.x, sum.y += v.y * f.y, sum.z += v.z * f.z, sum.w += v.w * f.w;
        }
    }
    y[i] = sum;
}
