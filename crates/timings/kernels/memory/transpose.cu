// Transposes: uncoalesced, with a tile, with banks in conflict and without.
// sweep: side = 256 1024 4096 8192
// launch: transpose_naive<<<({side / 32},{side / 32}), (32,32)>>>(x: f32[{side * side}], y: f32[{side * side}] uninit, n: i32 = {side})
// launch: transpose_reads_apart<<<({side / 32},{side / 32}), (32,32)>>>(x: f32[{side * side}], y: f32[{side * side}] uninit, n: i32 = {side})
// launch: transpose_tile<<<({side / 32},{side / 32}), (32,32)>>>(x: f32[{side * side}], y: f32[{side * side}] uninit, n: i32 = {side})
// launch: transpose_padded<<<({side / 32},{side / 32}), (32,32)>>>(x: f32[{side * side}], y: f32[{side * side}] uninit, n: i32 = {side})
// launch: transpose_padded_8<<<({side / 32},{side / 32}), (32,8)>>>(x: f32[{side * side}], y: f32[{side * side}] uninit, n: i32 = {side})
extern "C" __global__ void transpose_naive(const float* x, float* y, int n) {
    int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
    y[c * n + r] = x[r * n + c];
}
extern "C" __global__ void transpose_reads_apart(const float* x, float* y, int n) {
    int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
    y[r * n + c] = x[c * n + r];
}
extern "C" __global__ void transpose_tile(const float* x, float* y, int n) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void transpose_padded(const float* x, float* y, int n) {
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void transpose_padded_8(const float* x, float* y, int n) {
    __shared__ float tile[32][33];
    for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) y[(blockIdx.x * 32 + k) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][k];
}
