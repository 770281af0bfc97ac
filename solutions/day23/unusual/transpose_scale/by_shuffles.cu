// No shared memory: a warp holds a tile of 32 x 32 in registers, and turns it over by exchanging halves, quarters and so on by shuffles.
extern "C" __global__ void __launch_bounds__(32)
    transpose_scale(const float* x, float* out, float s, size_t rows, size_t columns) {
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int lane = threadIdx.x;
    float value[32];
#pragma unroll
    for (int r = 0; r < 32; r++) {
        value[r] = top + r < rows && left + lane < columns ? s * x[(top + r) * columns + left + lane] : 0.0f;
    }
    // Of the elements (r, lane) and (r + d, lane ^ d), the one whose row has the bit d and whose lane has not changes places with the other.
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
#pragma unroll
        for (int r = 0; r < 32; r++) {
            if (r & d) continue;
            const bool upper = lane & d;
            const float given = upper ? value[r] : value[r + d];
            const float taken = __shfl_xor_sync(0xffffffffu, given, d);
            (upper ? value[r] : value[r + d]) = taken;
        }
    }
#pragma unroll
    for (int c = 0; c < 32; c++) {
        if (top + lane < rows && left + c < columns) out[(left + c) * rows + top + lane] = value[c];
    }
}
