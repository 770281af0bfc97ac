// The unfused chain, continued: kernels that work on the rows of a matrix.
//
// Every kernel but `transpose` has one block a row. Arguments are the buffers read, the buffers written, the scalars, and the numbers
// of rows and columns. Reductions are written plainly, but not badly: neighbouring threads read neighbouring
// elements, and each element is read from DRAM once.

// ANCHOR: reduce
// Combines one value of each thread of the block; every thread gets the result.
template <typename Op>
__device__ float reduce_block(float value, Op op) {
    __shared__ float partial[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int distance = 16; distance > 0; distance /= 2) value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
    // Whoever reduces twice must not overwrite what others still read.
    __syncthreads();
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = partial[0];
    for (int other = 1; other < warps; other++) value = op(value, partial[other]);
    return value;
}

__device__ float block_sum(float value) {
    return reduce_block(value, [](float a, float b) { return a + b; });
}
// ANCHOR_END: reduce

// ANCHOR: softmax
extern "C" __global__ void row_max(const float* x, float* largest, size_t rows, size_t columns) {
    const float* row = x + blockIdx.x * columns;
    float top = row[0];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
    top = reduce_block(top, [](float a, float b) { return fmaxf(a, b); });
    if (threadIdx.x == 0) largest[blockIdx.x] = top;
}

extern "C" __global__ void exp_of_difference(const float* x, const float* largest, float* out, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    const float top = largest[blockIdx.x];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = expf(x[start + c] - top);
}

extern "C" __global__ void row_sum(const float* x, float* sum, size_t rows, size_t columns) {
    const float* row = x + blockIdx.x * columns;
    float total = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) total += row[c];
    total = block_sum(total);
    if (threadIdx.x == 0) sum[blockIdx.x] = total;
}

extern "C" __global__ void divide_rows(const float* x, const float* divisors, float* out, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    const float divisor = divisors[blockIdx.x];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = x[start + c] / divisor;
}
// ANCHOR_END: softmax

// ANCHOR: log_softmax
// The logarithm of exp(x - largest) / sum.
extern "C" __global__ void log_of_quotient(const float* x, const float* largest, const float* sum, float* out, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    const float top = largest[blockIdx.x], log_sum = logf(sum[blockIdx.x]);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = x[start + c] - top - log_sum;
}
// ANCHOR_END: log_softmax

// ANCHOR: l2norm
extern "C" __global__ void square(const float* x, float* out, size_t n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * x[i];
}

extern "C" __global__ void divide_by_length(const float* x, const float* squares, float* out, float epsilon, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    const float length = sqrtf(squares[blockIdx.x]) + epsilon;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = x[start + c] / length;
}
// ANCHOR_END: l2norm

// ANCHOR: layernorm
// A framework's layernorm: one launch already.
extern "C" __global__ void layernorm(const float* x, const float* gamma, const float* beta, float* out, float epsilon, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += x[start + c];
    const float mean = block_sum(sum) / columns;
    float squares = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) squares += (x[start + c] - mean) * (x[start + c] - mean);
    const float factor = rsqrtf(block_sum(squares) / columns + epsilon);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) {
        out[start + c] = (x[start + c] - mean) * factor * gamma[c] + beta[c];
    }
}

extern "C" __global__ void add_to_rows(const float* x, const float* bias, float* out, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = x[start + c] + bias[c];
}
// ANCHOR_END: layernorm

// ANCHOR: transpose
// A tile goes through shared memory, so that both what is read and what is written is neighbouring. Each row of the tile is turned by
// one place more than the one above it: the elements of a column are in different banks, as those of a row are.
extern "C" __global__ void transpose(const float* x, float* out, size_t rows, size_t columns) {
    __shared__ float tile[32 * 32];
    const size_t top = (size_t)blockIdx.x * 32, left = (size_t)blockIdx.y * 32;
    const int lane = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += blockDim.y) {
        const size_t row = top + r, column = left + lane;
        if (row < rows && column < columns) tile[32 * r + (lane + r) % 32] = x[row * columns + column];
    }
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += blockDim.y) {
        const size_t row = top + lane, column = left + c;
        if (row < rows && column < columns) out[column * rows + row] = tile[32 * lane + (c + lane) % 32];
    }
}
// ANCHOR_END: transpose

// ANCHOR: cross_entropy
// The largest element of a row, and the one that its label names; none where it names none.
extern "C" __global__ void row_max_and_label(const float* x, const int* labels, float* largest, float* chosen, size_t rows, size_t columns) {
    const float* row = x + blockIdx.x * columns;
    float top = row[0];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) top = fmaxf(top, row[c]);
    top = reduce_block(top, [](float a, float b) { return fmaxf(a, b); });
    if (threadIdx.x == 0) {
        const int label = labels[blockIdx.x];
        largest[blockIdx.x] = top;
        chosen[blockIdx.x] = label == -100 ? 0.0f : row[label];
    }
}

// One thread a row.
extern "C" __global__ void loss_of_sum(const float* sum, const float* largest, const float* chosen, const int* labels, float* loss, size_t rows, size_t columns) {
    const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) loss[row] = labels[row] == -100 ? 0.0f : logf(sum[row]) + (largest[row] - chosen[row]);
}
// ANCHOR_END: cross_entropy

// ANCHOR: wide
// A layernorm in four launches.
extern "C" __global__ void row_mean(const float* x, float* means, size_t rows, size_t columns) {
    const float* row = x + blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c];
    sum = block_sum(sum);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / columns;
}

extern "C" __global__ void subtract_from_rows(const float* x, const float* means, float* out, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    const float mean = means[blockIdx.x];
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = x[start + c] - mean;
}

extern "C" __global__ void row_mean_of_squares(const float* x, float* means, size_t rows, size_t columns) {
    const float* row = x + blockIdx.x * columns;
    float sum = 0.0f;
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] * row[c];
    sum = block_sum(sum);
    if (threadIdx.x == 0) means[blockIdx.x] = sum / columns;
}

extern "C" __global__ void normalize_rows(const float* centred, const float* variances, const float* gamma, const float* beta, float* out, float epsilon, size_t rows, size_t columns) {
    const size_t start = blockIdx.x * columns;
    const float factor = rsqrtf(variances[blockIdx.x] + epsilon);
    for (size_t c = threadIdx.x; c < columns; c += blockDim.x) out[start + c] = centred[start + c] * factor * gamma[c] + beta[c];
}
// ANCHOR_END: wide
