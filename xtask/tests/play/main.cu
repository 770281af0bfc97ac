// A program, as a tutorial has it.
#include <stdio.h>
__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
int main() {
    float *x, *y;
    cudaMalloc(&x, 32);
    cudaMalloc(&y, 32);
    k<<<1, 8>>>(x, y);
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
