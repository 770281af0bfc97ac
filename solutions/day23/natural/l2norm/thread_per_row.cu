// A thread per row, which adds in double.
extern "C" __global__ void l2norm(const float* x, float* out, size_t rows, size_t columns) {
    size_t r = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        double sum = 0.0;
        for (size_t c = 0; c < columns; c++) {
            sum += x[r * columns + c] * x[r * columns + c];
        }
        float length = sqrt(sum) + 1e-12;
        for (size_t c = 0; c < columns; c++) {
            out[r * columns + c] = x[r * columns + c] / length;
        }
    }
}
