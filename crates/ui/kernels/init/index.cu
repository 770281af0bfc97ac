// A table of indices was allocated and never filled; its values choose addresses.
// fail: E-UNINIT-GLOBAL
// launch: gather<<<1, 32>>>(x: f32[32], index: i32[32] uninit, out: f32[32] uninit)
extern "C" __global__ void gather(const float* x, const int* index, float* out) {
    int at = index[threadIdx.x] & 31;
    out[threadIdx.x] = x[at];
}
