// A kernel that calls a function and reads a variable of another file.
#include <cstdio>

__device__ int twice(int x);
extern __device__ int offset;
static __device__ int own = 1;

__global__ void apply(int *x) {
    x[threadIdx.x] = twice(x[threadIdx.x]) + offset + own;
}

int main() {
    int host[32], *x;
    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    apply<<<1, 32>>>(x);
    if (cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    for (int i = 0; i < 32; i++)
        if (host[i] != 2 * i + 11 + 100)
            return std::printf("%d: %d\n", i, host[i]), 1;
    std::printf("right\n");
}
