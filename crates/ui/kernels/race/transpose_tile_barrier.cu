// A barrier between writing and reading the tile.
// pass
// near: race/transpose_tile
// launch: transpose<<<1, (32,8)>>>(in: f32[1024], out: f32[1024] uninit)
extern "C" __global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) tile[y][x] = in[y * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) out[y * 32 + x] = tile[x][y];
}
