// Adds neighbours, and forgets that the last element has none.
#include <cstdio>
#include <vector>

__global__ void add_neighbour(float *out, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = x[i] + x[i + 1]; // <- E-OOB-GLOBAL
    }
}

int main() {
    const int n = 1000;
    std::vector<float> host(n, 1.0f);
    float *x, *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add_neighbour<<<(n + 255) / 256, 256>>>(out, x, n);
    std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
