// Pieces of the row come to shared memory by `cp.async`, while the piece before is added up.
#include <cuda_pipeline.h>

#include "reduce.cuh"

const int THREADS = 128, STAGES = 2;

extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float stage[STAGES][THREADS], partial[WARPS<THREADS>];
    x += (size_t)blockIdx.x * columns;
    out += (size_t)blockIdx.x * columns;
    const size_t pieces = (columns + THREADS - 1) / THREADS;
    float sum = 0.0f;
    for (size_t piece = 0; piece < pieces + 1; piece++) {
        const size_t c = piece * THREADS + threadIdx.x;
        if (c < columns) __pipeline_memcpy_async(&stage[piece % STAGES][threadIdx.x], &x[c], sizeof(float));
        __pipeline_commit();
        if (piece == 0) continue;
        __pipeline_wait_prior(1);
        if (c - THREADS < columns) {
            const float value = stage[(piece - 1) % STAGES][threadIdx.x];
            sum += value * value;
        }
    }
    sum = reduce_row<THREADS>(sum, partial, Sum());
    const float factor = 1.0f / (sqrtf(sum) + 1e-12f);
    for (size_t c = threadIdx.x; c < columns; c += THREADS) out[c] = x[c] * factor;
}
