// A file that says nothing yet, with a header beside it.
#include "twice.cuh"

__global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = twice(a) * x[i] + y[i];
    }
}
