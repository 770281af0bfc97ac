// RMSNorm of short rows with more threads a row than it needs: out = x / sqrt(mean of its row's x^2 + 1e-6) * weight, all f16.
//
//     rmsnorm_block_a_row   a block of 256 threads has one row
//     rmsnorm_warp_a_row    a warp has one row: no barrier, and no shared memory
//
// Both read the row once, 16 bytes an access, and hold it in registers. They take rows of a multiple of 8 columns, at most
// 1024 of them, and addresses that are multiples of 16. The top goes on from here: rows that share a warp.
#include "reduce.cuh"
#include "row.cuh"

template <int THREADS, int VECTORS>
__device__ __forceinline__ void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows, size_t columns) {
    __shared__ float sums[WARPS<THREADS>];
    const size_t number = row_number<THREADS>();
    // A row's threads are whole warps, which leave together.
    if (number >= rows) return;

    Row<__half, THREADS, VECTORS> row;
    row.load(x + number * columns, columns);
    const float sum = reduce_row<THREADS>(row.fold(0.0f, [](float sum, float v) { return sum + v * v; }), sums, Sum());
    const float factor = rsqrtf(sum / columns + 1e-6f);
    row.apply([=](float v, float w) { return v * factor * w; }, weight);
    row.write(out + number * columns);
}

extern "C" __global__ void __launch_bounds__(256)
    rmsnorm_block_a_row(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows, size_t columns) {
    rmsnorm<256, 1>(x, weight, out, rows, columns);
}

extern "C" __global__ void __launch_bounds__(256)
    rmsnorm_warp_a_row(const __half* __restrict__ x, const __half* __restrict__ weight, __half* __restrict__ out, size_t rows, size_t columns) {
    rmsnorm<32, 4>(x, weight, out, rows, columns);
}
