// Kernels that live in shared memory: what the checks cost where tiles are read in rows, in columns and all over.

// 32x32 tiles, 8x32 threads: each makes four elements of a column of c = a b, all matrices n by n.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[32][32], right[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    float sum[4] = {};
    for (int tile = 0; tile < n; tile += 32) {
        for (int i = 0; i < 32; i += 8) {
            left[threadIdx.y + i][threadIdx.x] = a[(y + i) * n + tile + threadIdx.x];
            right[threadIdx.y + i][threadIdx.x] = b[(tile + threadIdx.y + i) * n + x];
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            for (int i = 0; i < 4; ++i) sum[i] += left[threadIdx.y + 8 * i][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) c[(y + 8 * i) * n + x] = sum[i];
}

// 64x64 of c a block of 256 threads, 4x4 a thread; the tile of a is stored in columns.
extern "C" __global__ void matmul_blocked(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][64], right[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    int x = blockIdx.x * 64, y = blockIdx.y * 64;
    float sum[4][4] = {};
    for (int tile = 0; tile < n; tile += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            left[i % 16][i / 16] = a[(y + i / 16) * n + tile + i % 16];
            right[i / 64][i % 64] = b[(tile + i / 64) * n + x + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float l[4], r[4];
            for (int i = 0; i < 4; ++i) l[i] = left[k][4 * ty + i];
            for (int i = 0; i < 4; ++i) r[i] = right[k][4 * tx + i];
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) c[(y + 4 * ty + i) * n + x + 4 * tx + j] = sum[i][j];
}

// Attention of 64 queries a block over n keys, 64 numbers each: a warp has eight queries, a lane two of the 64 keys of a tile,
// whose rows it reads with a stride, and two of the 64 numbers of the result.
extern "C" __global__ void attention(const float* q, const float* k, const float* v, float* out, int n)
{
    __shared__ float queries[64][64], keys[64][65], values[64][64], weights[64][64];
    int lane = threadIdx.x, warp = threadIdx.y, t = 32 * warp + lane;
    q += blockIdx.x * 64 * 64;
    out += blockIdx.x * 64 * 64;
    for (int i = t; i < 64 * 64; i += 256) queries[i / 64][i % 64] = q[i];
    float most[8], total[8], sum[8][2];
    for (int r = 0; r < 8; ++r) most[r] = -1e30f, total[r] = sum[r][0] = sum[r][1] = 0;
    for (int tile = 0; tile < n; tile += 64) {
        __syncthreads();
        for (int i = t; i < 64 * 64; i += 256) {
            keys[i / 64][i % 64] = k[tile * 64 + i];
            values[i / 64][i % 64] = v[tile * 64 + i];
        }
        __syncthreads();
        for (int r = 0; r < 8; ++r) {
            int row = 8 * warp + r;
            float s[2] = {};
            for (int d = 0; d < 64; ++d) {
                s[0] += queries[row][d] * keys[lane][d];
                s[1] += queries[row][d] * keys[lane + 32][d];
            }
            float high = fmaxf(s[0], s[1]) * 0.125f;
            for (int i = 16; i > 0; i >>= 1) high = fmaxf(high, __shfl_xor_sync(~0u, high, i));
            high = fmaxf(high, most[r]);
            float scale = __expf(most[r] - high), p0 = __expf(s[0] * 0.125f - high), p1 = __expf(s[1] * 0.125f - high), p = p0 + p1;
            for (int i = 16; i > 0; i >>= 1) p += __shfl_xor_sync(~0u, p, i);
            weights[row][lane] = p0;
            weights[row][lane + 32] = p1;
            __syncwarp();
            most[r] = high;
            total[r] = total[r] * scale + p;
            sum[r][0] *= scale;
            sum[r][1] *= scale;
            for (int key = 0; key < 64; ++key) {
                sum[r][0] += weights[row][key] * values[key][lane];
                sum[r][1] += weights[row][key] * values[key][lane + 32];
            }
        }
    }
    for (int r = 0; r < 8; ++r) {
        out[(8 * warp + r) * 64 + lane] = sum[r][0] / total[r];
        out[(8 * warp + r) * 64 + lane + 32] = sum[r][1] / total[r];
    }
}

// A thread a query, as it is often written first: each reads whole rows of the tiles and keeps its scores in shared memory, in a
// column of its own.
extern "C" __global__ void attention_rows(const float* q, const float* k, const float* v, float* out, int n)
{
    __shared__ float queries[64][32], keys[32][32], values[32][32], scores[64][32];
    int t = threadIdx.x, row = blockIdx.x * 64 + t;
    for (int d = 0; d < 32; ++d) queries[t][d] = q[row * 32 + d];
    float sum[32] = {}, most = -1e30f, total = 0;
    for (int tile = 0; tile < n; tile += 32) {
        for (int i = t; i < 32 * 32; i += 64) {
            keys[i / 32][i % 32] = k[tile * 32 + i];
            values[i / 32][i % 32] = v[tile * 32 + i];
        }
        __syncthreads();
        float high = most;
        for (int j = 0; j < 32; ++j) {
            float s = 0;
            for (int d = 0; d < 32; ++d) s += queries[t][d] * keys[j][d];
            scores[t][j] = s * 0.17677669f;
            high = fmaxf(high, scores[t][j]);
        }
        float scale = __expf(most - high);
        most = high;
        total *= scale;
        for (int d = 0; d < 32; ++d) sum[d] *= scale;
        for (int j = 0; j < 32; ++j) {
            float p = __expf(scores[t][j] - high);
            total += p;
            for (int d = 0; d < 32; ++d) sum[d] += p * values[j][d];
        }
        __syncthreads();
    }
    for (int d = 0; d < 32; ++d) out[row * 32 + d] = sum[d] / total;
}

template <int WIDTH>
__device__ void transposed(const float* in, float* out, int n)
{
    __shared__ float tile[32][WIDTH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" __global__ void transpose(const float* in, float* out, int n) { transposed<32>(in, out, n); }

extern "C" __global__ void transpose_padded(const float* in, float* out, int n) { transposed<33>(in, out, n); }

// Without shared memory: the columns are of global memory.
extern "C" __global__ void transpose_plain(const float* in, float* out, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[x * n + y + i] = in[(y + i) * n + x];
}

// A histogram of bytes: atomics all over shared memory, then all of it added to the grid's.
extern "C" __global__ void histogram(const unsigned* in, unsigned* bins, int n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        unsigned word = in[i];
        for (int b = 0; b < 32; b += 8) atomicAdd(&own[word >> b & 255], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
