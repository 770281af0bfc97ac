//@ launch: one<<<1, 64>>>(out: i32[64])
//@ fault: E-SYNC-MASK
// One lane waits for a warp that has left.
extern "C" __global__ void one(int* out) {
    if (threadIdx.x == 35)
        __syncwarp();
    out[threadIdx.x] = threadIdx.x;
}
