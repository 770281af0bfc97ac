// Built with a default stream for each thread, which waits for no other stream: the legacy one would wait for `first`.
#include <cstdio>

__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = i;
    }
}

__global__ void twice(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] *= 2; // <- E-RACE-STREAMS
    }
}

int main() {
    const int n = 1000;
    int *x;
    cudaStream_t first;
    cudaMalloc(&x, n * sizeof(int));
    cudaStreamCreate(&first);
    cudaMemset(x, 0, n * sizeof(int));
    cudaDeviceSynchronize();
    fill<<<4, 256, 0, first>>>(x, n);
    twice<<<4, 256>>>(x, n);
    cudaDeviceSynchronize();
    cudaStreamDestroy(first);
    return cudaFree(x) != cudaSuccess;
}
