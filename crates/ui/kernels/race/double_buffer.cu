// One barrier a step is enough with two buffers: the next tile goes where nobody reads any more.
// pass
// near: race/double_buffer_barrier
// launch: stream<<<1, 64>>>(x: f32[512], y: f32[64] uninit, tiles: i32 = 8)
extern "C" __global__ void stream(const float* x, float* y, int tiles) {
    __shared__ float buffer[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    buffer[0][t] = x[t];
    for (int k = 0; k < tiles; k++) {
        __syncthreads();
        if (k + 1 < tiles) buffer[(k + 1) & 1][t] = x[64 * (k + 1) + t];
        sum += buffer[k & 1][63 - t];
    }
    y[t] = sum;
}
