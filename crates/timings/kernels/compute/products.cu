// Products of matrices without tensor cores.
// sweep: side = 128 256 512 1024 2048
// launch: matmul_naive<<<({side / 16},{side / 16}), (16,16)>>>(a: f32[{side * side}], b: f32[{side * side}], c: f32[{side * side}] uninit, n: i32 = {side})
// launch: matmul_tile_16<<<({side / 16},{side / 16}), (16,16)>>>(a: f32[{side * side}], b: f32[{side * side}], c: f32[{side * side}] uninit, n: i32 = {side})
// launch: matmul_tile_32<<<({side / 32},{side / 32}), (32,32)>>>(a: f32[{side * side}], b: f32[{side * side}], c: f32[{side * side}] uninit, n: i32 = {side})
// launch: matmul_registers<<<({side / 64},{side / 64}), (16,16)>>>(a: f32[{side * side}], b: f32[{side * side}], c: f32[{side * side}] uninit, n: i32 = {side})
// launch: matvec_rows<<<{ceil(side, 8)}, 256>>>(a: f32[{side * side}], x: f32[{side}], y: f32[{side}] uninit, n: i32 = {side})
extern "C" __global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
template <int TILE>
__device__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < n; t += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
extern "C" __global__ void matmul_tile_16(const float* a, const float* b, float* c, int n) { tiled<16>(a, b, c, n); }
extern "C" __global__ void matmul_tile_32(const float* a, const float* b, float* c, int n) { tiled<32>(a, b, c, n); }
// Each thread has four by four elements.
extern "C" __global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][64], bs[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx;
    float sum[4][4] = {};
    for (int t = 0; t < n; t += 16) {
        for (int k = 0; k < 4; k++) {
            int e = id + k * 256;
            as[e % 16][e / 16] = a[(blockIdx.y * 64 + e / 16) * n + t + e % 16];
            bs[e / 64][e % 64] = b[(t + e / 64) * n + blockIdx.x * 64 + e % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) sum[i][j] += as[k][ty * 4 + i] * bs[k][tx * 4 + j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4 + j] = sum[i][j];
    }
}
extern "C" __global__ void matvec_rows(const float* a, const float* x, float* y, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= n) return;
    float sum = 0.0f;
    for (int c = threadIdx.x % 32; c < n; c += 32) sum += a[(size_t)row * n + c] * x[c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) y[row] = sum;
}
