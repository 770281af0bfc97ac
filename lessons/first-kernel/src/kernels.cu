// First kernels. "CUDA in thirty minutes" in the book explains each line.

// ANCHOR: hello
// What each thread knows about itself.
extern "C" __global__ void hello() {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    printf("block %u, thread %u: element %u\n", blockIdx.x, threadIdx.x, i);
}
// ANCHOR_END: hello

// ANCHOR: scale
// Multiplies each of the n elements of x by a.
extern "C" __global__ void scale(const float* x, float* y, float a, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i];
    }
}
// ANCHOR_END: scale

// ANCHOR: reverse
// Reverses the order within each group of 64 elements. A block has 64 threads.
extern "C" __global__ void reverse(const float* x, float* y) {
    __shared__ float tile[64];
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[63 - threadIdx.x];
}
// ANCHOR_END: reverse

// ANCHOR: race
// The same without the barrier, which is wrong.
extern "C" __global__ void reverse_race(const float* x, float* y) {
    __shared__ float tile[64];
    unsigned i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    y[i] = tile[63 - threadIdx.x];
}
// ANCHOR_END: race

// ANCHOR: promises
// `scale` with two promises to the compiler.
extern "C" __global__ void __launch_bounds__(256)
scale_promised(const float* __restrict__ x, float* __restrict__ y, float a, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i];
    }
}
// ANCHOR_END: promises
