// A warp per row, four to a block: its sums are doubles.
extern "C" __global__ void layernorm_wide_rows(const float* x, const float* gamma, const float* beta, float* out, size_t rows, size_t columns) {
    size_t r = (size_t)blockIdx.x * 4 + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (r >= rows) {
        return;
    }
    const float* row = x + r * columns;
    double sum = 0.0;
    for (size_t c = lane; c < columns; c += 32) {
        sum += row[c];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    float mean = sum / columns;
    double squares = 0.0;
    for (size_t c = lane; c < columns; c += 32) {
        float distance = row[c] - mean;
        squares += distance * distance;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        squares += __shfl_xor_sync(0xffffffff, squares, offset);
    }
    float root = sqrt(squares / columns + 1e-5);
    for (size_t c = lane; c < columns; c += 32) {
        out[r * columns + c] = (row[c] - mean) / root * gamma[c] + beta[c];
    }
}
