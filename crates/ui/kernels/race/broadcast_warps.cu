// The first lane of each warp writes what the whole warp then reads, without `__syncwarp()`.
// fail: E-RACE-SHARED
// launch: bases<<<1, 64>>>(y: i32[64] uninit)
extern "C" __global__ void bases(int* y) {
    __shared__ int base[2];
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) base[warp] = 100 * warp;
    y[threadIdx.x] = base[warp] + threadIdx.x;
}
