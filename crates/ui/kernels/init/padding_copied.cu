// Whole structs are copied with the padding that nobody sets: copying is no use.
// pass
// near: init/fourth_component
// launch: place<<<1, 32>>>(p: f32[128] uninit)
// launch: copy<<<1, 32>>>(p, q: f32[128] uninit)
extern "C" __global__ void place(float* p) {
    for (int c = 0; c < 3; c++) p[4 * threadIdx.x + c] = threadIdx.x + c;
}
extern "C" __global__ void copy(const float4* p, float4* q) {
    q[threadIdx.x] = p[threadIdx.x];
}
