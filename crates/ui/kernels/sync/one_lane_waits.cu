// One lane waits for the whole warp, whose other lanes have gone around.
// fail: E-SYNC-MASK
// launch: number<<<1, 64>>>(out: i32[64] uninit)
extern "C" __global__ void number(int* out) {
    if (threadIdx.x == 35) __syncwarp();
    out[threadIdx.x] = threadIdx.x;
}
