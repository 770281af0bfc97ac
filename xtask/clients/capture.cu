// Captures as PyTorch and others make them: the first launch of the program is in one, and a stream that has joined it is destroyed before
// it ends.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                            \
    do {                                                                                                       \
        cudaError_t error = call;                                                                              \
        if (error != cudaSuccess) {                                                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                     \
            exit(1);                                                                                           \
        }                                                                                                      \
    } while (0)

__device__ int factor = 3;

__global__ void add(int* x) { x[threadIdx.x] += 1; }
__global__ void multiply(int* x) { x[threadIdx.x] *= factor; }

int main() {
    int *x, host[32];
    cudaStream_t stream, other;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, stream>>>(x);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork, 0));
    multiply<<<1, 32, 0, other>>>(x);
    CHECK(cudaEventRecord(join, other));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    fprintf(stderr, host[0] == 12 && host[31] == 12 ? "right\n" : "wrong\n");
}
