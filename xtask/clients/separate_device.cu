// The other half of separate.cu, with a variable of its own that is called the same.
static __device__ int own = 10;
__device__ int offset = 100;

__device__ __noinline__ int twice(int x) {
    return 2 * x + own;
}
