// The first array has room for the halo; pointers into either are chosen and moved on, and never leave the array they are in.
// pass
// near: memory/shared_next_array
// launch: blur<<<1, 32>>>(x: f32[33], w: f32[32], y: f32[32] uninit, n: i32 = 3)
extern "C" __global__ void blur(const float* x, const float* w, float* y, int n) {
    __shared__ float tile[33];
    __shared__ float weight[32];
    int t = threadIdx.x;
    weight[t] = w[t];
    tile[t] = x[t];
    if (t == 31) tile[t + 1] = x[t + 1];
    __syncthreads();
    float sum = 0.0f;
    const float* p = n % 2 ? tile + 1 : weight;
    for (int k = 0; k < n; k++, p++) sum += p[(t + k) % 29];
    const float* end = tile + 33;
    for (const float* q = tile; q != end; q += n) sum += q[0];
    y[t] = tile[t] * weight[31 - t] + tile[t + 1] + sum;
}
