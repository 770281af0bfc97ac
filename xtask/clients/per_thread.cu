// Built with a default stream for each thread: each host thread's work is in the order of its own stream.
#include <cstdio>
#include <thread>
#include <vector>

__constant__ int step;
__device__ int launches;

__global__ void add(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += step;
    }
    if (i == 0) {
        atomicAdd(&launches, 1);
    }
}

static bool work(int start) {
    const int n = 1000;
    std::vector<int> host(n, start);
    int *x;
    cudaEvent_t done;
    bool ok = cudaMalloc(&x, n * sizeof(int)) == cudaSuccess && cudaEventCreate(&done) == cudaSuccess;
    ok = ok && cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice) == cudaSuccess;
    for (int round = 0; round < 3; round++) {
        add<<<(n + 255) / 256, 256>>>(x, n);
    }
    ok = ok && cudaGetLastError() == cudaSuccess && cudaEventRecord(done) == cudaSuccess;
    ok = ok && cudaStreamWaitEvent(0, done, 0) == cudaSuccess && cudaStreamSynchronize(0) == cudaSuccess;
    ok = ok && cudaMemcpyAsync(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess;
    ok = ok && cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess;
    for (int value : host) {
        ok = ok && value == start + 3 * 5;
    }
    ok = ok && cudaMemset(x, 0, n * sizeof(int)) == cudaSuccess;
    return ok && cudaEventDestroy(done) == cudaSuccess && cudaFree(x) == cudaSuccess;
}

int main() {
    int five = 5, zero = 0, counted = 0;
    bool ok[2] = {};
    if (cudaMemcpyToSymbol(step, &five, sizeof five) || cudaMemcpyToSymbol(launches, &zero, sizeof zero)) {
        return 1;
    }
    std::thread other([&] { ok[1] = work(200); });
    ok[0] = work(100);
    other.join();
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&counted, launches, sizeof counted);
    if (ok[0] && ok[1] && counted == 6) {
        std::puts("right");
    }
    return 0;
}
