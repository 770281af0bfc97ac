// A block of 32 per row, whose lanes combine by shuffles.
extern "C" __global__ void softmax(const float* x, float* out, size_t rows, size_t columns) {
    const int t = threadIdx.x;
    const float* row = x + blockIdx.x * columns;

    float largest = row[0];
    for (size_t c = t; c < columns; c += 32) {
        largest = fmaxf(largest, row[c]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    }
    float sum = 0.0f;
    for (size_t c = t; c < columns; c += 32) {
        sum += expf(row[c] - largest);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    for (size_t c = t; c < columns; c += 32) {
        out[blockIdx.x * columns + c] = expf(row[c] - largest) / sum;
    }
}
