// pass
// near: planted/scale_tiles
// launch: scale_tiles<<<2, 64>>>(x: f32[256], y: f32[256] uninit, tiles: i32 = 2)
// Halves tiles of 64 elements and turns each around, fetching the next one while the present one is worked on.
// One group, that of the next tile, may be on its way.
#include <cuda_pipeline.h>

extern "C" __global__ void scale_tiles(const float* x, float* y, int tiles) {
    __shared__ float stage[2][64];
    int first = blockIdx.x * tiles * 64, t = threadIdx.x;
    __pipeline_memcpy_async(&stage[0][t], &x[first + t], 4);
    __pipeline_commit();
    for (int tile = 0; tile < tiles; tile++) {
        if (tile + 1 < tiles) __pipeline_memcpy_async(&stage[(tile + 1) % 2][t], &x[first + (tile + 1) * 64 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        y[first + tile * 64 + t] = 0.5f * stage[tile % 2][63 - t];
        __syncthreads();
    }
}
