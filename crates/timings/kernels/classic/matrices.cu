// Matrices of doubles turned over, sums in the right and the wrong order, and small ones that a thread keeps.
// by others
// sweep: width = 250 1024 4096 8192; height = width
// sweep: width = 10000; height = 100
// launch: transpose_double_naive<<<({ceil(width, 16)},{ceil(height, 16)}), (16,16)>>>(in: f64[{width * height}], out: f64[{width * height}] uninit, width: i32 = {width}, height: i32 = {height})
// launch: transpose_double_padded<<<({ceil(width, 32)},{ceil(height, 32)}), (32,8)>>>(in: f64[{width * height}], out: f64[{width * height}] uninit, width: i32 = {width}, height: i32 = {height})
// launch: matrix_add_2d<<<({ceil(width, 16)},{ceil(height, 16)}), (16,16)>>>(a: f32[{width * height}], b: f32[{width * height}], c: f32[{width * height}] uninit, rows: i32 = {height}, cols: i32 = {width})
// launch: matrix_add_column_major<<<({ceil(height, 16)},{ceil(width, 16)}), (16,16)>>>(a: f32[{width * height}], b: f32[{width * height}], c: f32[{width * height}] uninit, rows: i32 = {height}, cols: i32 = {width})
// sweep: n = 250 1000 3000 6000; block = 128
// launch: matrix_add_by_rows<<<{ceil(n, block)}, {block}>>>(a: f64[{n * n}], b: f64[{n * n}], n: i32 = {n})
// sweep: n = 2^13 2^16 2^20 2^22; power = 13; block = 128
// sweep: n = 2^18; power = 1000; block = 64 256
// launch: matrix_power_4x4<<<{ceil(n, block)}, {block}>>>(in: f32[{16 * n}], out: f32[{16 * n}] uninit, power: i32 = {power}, n: i32 = {n})
// sweep: n = 2^13 2^17 2^20; chunk = 32; block = 128
// sweep: n = 2^15; chunk = 400; block = 64 512
// launch: digit_counts_local<<<{ceil(n, block)}, {block}>>>(values: i32[{n * chunk}], counts: i32[{16 * n}] uninit, n: i32 = {n}, chunk: i32 = {chunk})
// sweep: n = 2^13 2^17 2^20; block = 128
// sweep: n = 2^17; block = 32 256
// launch: cholesky_6x6<<<{ceil(n, block)}, {block}>>>(a: f64[{36 * n}], log_determinant: f64[{n}] uninit, n: i32 = {n})

extern "C" __global__ void transpose_double_naive(double* in, double* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

#define TILE_DIM 32
#define BLOCK_ROWS 8
extern "C" __global__ void transpose_double_padded(const double* __restrict__ in, double* __restrict__ out, int width,
                                                   int height) {
    __shared__ double tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < height && y + j < width) out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
    }
}

extern "C" __global__ void matrix_add_2d(const float* a, const float* b, float* c, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int index = row * cols + col;
        c[index] = a[index] + b[index];
    }
}
// Neighbouring threads have neighbouring rows.
extern "C" __global__ void matrix_add_column_major(const float* a, const float* b, float* c, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        int index = row * cols + col;
        c[index] = a[index] + b[index];
    }
}
// A thread adds a whole row to another.
extern "C" __global__ void matrix_add_by_rows(double* a, const double* b, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    for (int col = 0; col < n; col++) a[row * n + col] += b[row * n + col];
}

struct Mat4 {
    float4 row[4];
};
__device__ Mat4 operator*(const Mat4& a, const Mat4& b) {
    Mat4 c;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float4 r = a.row[i];
        c.row[i].x = r.x * b.row[0].x + r.y * b.row[1].x + r.z * b.row[2].x + r.w * b.row[3].x;
        c.row[i].y = r.x * b.row[0].y + r.y * b.row[1].y + r.z * b.row[2].y + r.w * b.row[3].y;
        c.row[i].z = r.x * b.row[0].z + r.y * b.row[1].z + r.z * b.row[2].z + r.w * b.row[3].z;
        c.row[i].w = r.x * b.row[0].w + r.y * b.row[1].w + r.z * b.row[2].w + r.w * b.row[3].w;
    }
    return c;
}
extern "C" __global__ void matrix_power_4x4(const Mat4* in, Mat4* out, int power, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Mat4 base = in[i], result;
    result.row[0] = make_float4(1, 0, 0, 0);
    result.row[1] = make_float4(0, 1, 0, 0);
    result.row[2] = make_float4(0, 0, 1, 0);
    result.row[3] = make_float4(0, 0, 0, 1);
    for (; power > 0; power >>= 1) {
        if (power & 1) result = result * base;
        base = base * base;
    }
    out[i] = result;
}

// The array is indexed by what is read, so that it lies in local memory.
extern "C" __global__ void digit_counts_local(const int* values, int* counts, int n, int chunk) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n) return;
    int own[16];
    for (int d = 0; d < 16; d++) own[d] = 0;
    for (int k = 0; k < chunk; k++) own[values[k * n + thread] & 15]++;
    for (int d = 0; d < 16; d++) counts[d * n + thread] = own[d];
}

// A small system for each thread; element e of all of them lies together. The diagonal is made large enough.
template <int N>
__device__ double cholesky_log_determinant(const double* a, int n, int i) {
    double l[N][N], sum = 0.0;
#pragma unroll
    for (int r = 0; r < N; r++) {
#pragma unroll
        for (int c = 0; c <= r; c++) {
            double v = a[(size_t)(r * N + c) * n + i];
            if (r == c) v += 10.0 * N * N;
#pragma unroll
            for (int k = 0; k < c; k++) v -= l[r][k] * l[c][k];
            if (r == c) {
                l[r][r] = sqrt(v);
                sum += log(l[r][r]);
            } else {
                l[r][c] = v / l[c][c];
            }
        }
    }
    return 2.0 * sum;
}
extern "C" __global__ void cholesky_6x6(const double* a, double* log_determinant, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) log_determinant[i] = cholesky_log_determinant<6>(a, n, i);
}
