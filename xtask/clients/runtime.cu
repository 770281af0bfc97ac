// What programs ask of the CUDA runtime: kernels and variables by name, copies, streams, events, graphs, occupancy, errors.
// One launch is refused on purpose: <- E-LAUNCH-BLOCK without a line.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            std::printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(error_), cudaGetErrorString(error_));          \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::printf("line %d: not %s\n", __LINE__, #condition);                                                    \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

__constant__ float factor;
__device__ int count;

template <typename T> __global__ void scale(T *x, int n) {
    extern __shared__ char room[];
    T *tile = reinterpret_cast<T *>(room);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : T(0);
    __syncthreads();
    if (i < n) {
        x[i] = tile[threadIdx.x] * T(factor);
        atomicAdd(&count, 1);
    }
}

int main() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    MUST(std::strncmp(properties.name, "Emulated", 8) == 0 && properties.warpSize == 32);
    MUST(properties.major >= 7 && properties.multiProcessorCount > 0 && properties.sharedMemPerBlockOptin >= 48 << 10);
    MUST(properties.maxThreadsPerMultiProcessor >= 1024 && properties.totalGlobalMem > 0 && properties.cooperativeLaunch);

    const int n = 1000;
    std::vector<float> host(n, 1.5f);
    float *x;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    float two = 2;
    int zero = 0, counted = 0;
    CHECK(cudaMemcpyToSymbol(factor, &two, sizeof two));
    CHECK(cudaMemcpyToSymbol(count, &zero, sizeof zero));

    cudaStream_t stream;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin, stream));
    scale<<<(n + 127) / 128, 128, 128 * sizeof(float), stream>>>(x, n);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    MUST(milliseconds > 0);

    cudaGraph_t graph;
    cudaGraphExec_t graph_exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    scale<<<(n + 127) / 128, 128, 128 * sizeof(float), stream>>>(x, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&graph_exec, graph, 0));
    CHECK(cudaGraphLaunch(graph_exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&counted, count, sizeof counted));
    MUST(host[0] == 6 && host[n - 1] == 6 && counted == 2 * n);

    char *rows, back[3][5];
    size_t pitch;
    CHECK(cudaMallocPitch(&rows, &pitch, 5, 3));
    CHECK(cudaMemset2D(rows, pitch, 7, 5, 3));
    CHECK(cudaMemcpy2D(back, 5, rows, pitch, 5, 3, cudaMemcpyDeviceToHost));
    MUST(back[0][0] == 7 && back[2][4] == 7);

    int *managed;
    CHECK(cudaMallocManaged(&managed, sizeof(int)));
    *managed = 5;
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    MUST(attributes.type == cudaMemoryTypeManaged);
    CHECK(cudaPointerGetAttributes(&attributes, x));
    MUST(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == x);

    cudaFuncAttributes function;
    int blocks = 0, grid = 0, block = 0;
    CHECK(cudaFuncGetAttributes(&function, scale<float>));
    MUST(function.maxThreadsPerBlock == 1024 && function.numRegs > 0 && function.ptxVersion == 90);
    CHECK(cudaFuncSetAttribute(scale<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<float>, 128, 512));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<float>, 0, 0));
    MUST(blocks > 0 && grid > 0 && block % 32 == 0);

    scale<<<1, 4096, 0>>>(x, n);
    MUST(cudaPeekAtLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaErrorInvalidConfiguration);
    MUST(cudaGetLastError() == cudaSuccess);
    MUST(cudaMemcpyToSymbol(zero, &two, 4) == cudaErrorInvalidSymbol);
    MUST(cudaSetDevice(1) == cudaErrorInvalidDevice && std::strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0);
    cudaArray_t array;
    cudaChannelFormatDesc format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    MUST(cudaMallocArray(&array, &format, 4, 4) == cudaErrorNotSupported);
    cudaGetLastError();

    CHECK(cudaFree(x));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(nullptr));
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMemset(x, 0, n * sizeof(float)));
    scale<<<(n + 127) / 128, 128, 128 * sizeof(float)>>>(x, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("right\n");
}
