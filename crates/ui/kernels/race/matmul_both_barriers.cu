// A barrier before the tile is read and one before it is written again.
// pass
// near: race/matmul_second_barrier
// launch: matmul<<<1, (16,16)>>>(a: f32[1024], b: f32[1024], c: f32[256] uninit, k: i32 = 64)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int k) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int at = 0; at < k; at += 16) {
        ta[y][x] = a[y * k + at + x];
        tb[y][x] = b[(at + y) * 16 + x];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += ta[y][j] * tb[j][x];
        __syncthreads();
    }
    c[y * 16 + x] = sum;
}
