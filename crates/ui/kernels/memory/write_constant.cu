// A kernel writes through a pointer to a constant variable.
// fail: E-WRITE-READONLY
// launch: update<<<1, 32>>>(x: f32[32])
__constant__ float bias[32];
extern "C" __global__ void update(const float* x) {
    float* p;
    asm("mov.u64 %0, %1;" : "=l"(p) : "l"(&bias[0]));
    p[threadIdx.x] = x[threadIdx.x];
}
