// A block of 32 per row, whose lanes add by shuffles.
extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float sum = 0.0f;
    for (size_t c = t; c < columns; c += 32) {
        sum += row[c] * row[c];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    for (size_t c = t; c < columns; c += 32) {
        out[blockIdx.x * columns + c] = row[c] / (sqrtf(sum) + 1e-12f);
    }
}
