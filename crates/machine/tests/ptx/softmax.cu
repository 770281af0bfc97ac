// One row a block of 256 threads: a reduction for the maximum, one for the sum, through shuffles and shared memory.

template <typename F>
__device__ float block_reduce(float v, float* slots, F f)
{
    for (int d = 16; d > 0; d >>= 1) v = f(v, __shfl_xor_sync(0xffffffffu, v, d));
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = v;
    __syncthreads();
    v = slots[threadIdx.x % 8];
    for (int d = 4; d > 0; d >>= 1) v = f(v, __shfl_xor_sync(0xffffffffu, v, d));
    __syncthreads();
    return v;
}

extern "C" __global__ void softmax(const float* x, float* out, int columns)
{
    extern __shared__ float row[];
    __shared__ float slots[8];
    x += blockIdx.x * (size_t)columns;
    out += blockIdx.x * (size_t)columns;
    float most = -1e30f;
    for (int i = threadIdx.x; i < columns; i += 256) {
        row[i] = x[i];
        most = fmaxf(most, row[i]);
    }
    most = block_reduce(most, slots, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) {
        float e = __expf(row[i] - most);
        row[i] = e;
        sum += e;
    }
    sum = block_reduce(sum, slots, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < columns; i += 256) out[i] = row[i] / sum;
}
