// A product with two tiles of each matrix that fills the one which is being read.
// fail: E-RACE-SHARED
// launch: k<<<(2, 2), (16, 16)>>>(a: f32[1024], b: f32[1024], c: f32[1024] uninit, n: i32 = 32)
extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
    __shared__ float as[2][16][17], bs[2][16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    int cur = 0;
    as[0][y][x] = a[row * n + x];
    bs[0][y][x] = b[y * n + col];
    for (int m = 0; m < n; m += 16) {
        __syncthreads();
        for (int kk = 0; kk < 16; kk++) sum += as[cur][y][kk] * bs[cur][kk][x];
        if (m + 16 < n) {
            as[cur][y][x] = a[row * n + m + 16 + x];
            bs[cur][y][x] = b[(m + 16 + y) * n + col];
        }
    }
    c[row * n + col] = sum;
}
