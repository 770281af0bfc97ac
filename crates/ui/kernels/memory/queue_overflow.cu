// A compaction appends without asking whether the output has room.
// fail: E-OOB-GLOBAL
// launch: compact<<<2, 64>>>(x: i32[128], out: i32[48] uninit, count: u32[1] zero)
extern "C" __global__ void compact(const int* x, int* out, unsigned* count) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v % 2 == 0) {
        unsigned at = atomicAdd(count, 1u);
        out[at] = v;
    }
}
