// A tile is copied with zeros behind its end, from a buffer of which only every other element was ever written.
// fail: E-UNINIT-GLOBAL
// launch: twice<<<1, 32>>>(x: f32[126] uninit, y: f32[128] uninit, n: i32 = 126)
__device__ void copy(float* to, const float* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}
extern "C" __global__ void twice(float* x, float* y, int n) {
    __shared__ __align__(16) float tile[128];
    int i = 4 * threadIdx.x;
    for (int k = 0; k < 4 && i + k < n; k += 2) x[i + k] = 1.0f;
    copy(&tile[i], &x[i], min(16, 4 * (n - i)));
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int k = 0; k < 4; k++) y[i + k] = 2.0f * tile[i + k];
}
