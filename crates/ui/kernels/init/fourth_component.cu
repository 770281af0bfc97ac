// Positions have three components set of four, and the length is taken over four.
// fail: E-UNINIT-GLOBAL
// launch: place<<<1, 32>>>(p: f32[128] uninit)
// launch: length<<<1, 32>>>(p, out: f32[32] uninit)
extern "C" __global__ void place(float* p) {
    for (int c = 0; c < 3; c++) p[4 * threadIdx.x + c] = threadIdx.x + c;
}
extern "C" __global__ void length(const float4* p, float* out) {
    float4 v = p[threadIdx.x];
    out[threadIdx.x] = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w);
}
