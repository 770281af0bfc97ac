// In place: each thread reads its element through the read-only path before it writes it.
// pass
// near: race/ldg_own_write
// launch: twice<<<1, 64>>>(x: f32[64])
extern "C" __global__ void twice(float* x) {
    int t = threadIdx.x;
    x[t] = 2.0f * __ldg(&x[t]);
}
