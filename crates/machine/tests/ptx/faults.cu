// Kernels that are wrong, each in one way.

extern "C" __global__ void past_end(const float* x, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i];
}

__device__ __forceinline__ float fetch(const float* x, int i)
{
    return x[i + 1];
}

extern "C" __global__ void inlined(const float* x, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fetch(x, i);
}

extern "C" __global__ void before_start(const float* x, float* out) { out[threadIdx.x] = x[(int)threadIdx.x - 1]; }

extern "C" __global__ void misaligned(const float* x, float4* out) { out[threadIdx.x] = *(const float4*)(x + threadIdx.x * 4 + 1); }

extern "C" __global__ void divergent_barrier(int* out)
{
    if (threadIdx.x < 16) __syncthreads();
    else out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = 2;
}

extern "C" __global__ void wrong_mask(int* out)
{
    int t = threadIdx.x;
    if (t >= 16) out[t] = __shfl_sync(0x0000ffffu, t, 0);
}

extern "C" __global__ void gone(int* out, int n)
{
    int t = threadIdx.x;
    if (t >= n) return;
    out[t] = __shfl_down_sync(0xffffffffu, t, 1);
}

extern "C" __global__ void never_meets(int* out)
{
    int t = threadIdx.x;
    if (t < 16) __syncwarp();
    else out[t] = __shfl_sync(0xffffffffu, t, 0);
    asm volatile("" ::: "memory");
    out[t] = 1;
}

extern "C" __global__ void spins(volatile int* flag) { while (*flag == 0) { } }

extern "C" __global__ void forever(int* out)
{
    int i = 0;
    while (out[i & 1] >= 0) ++i;
}

extern "C" __global__ void shared_past(int* out, int n)
{
    __shared__ int tile[64];
    tile[threadIdx.x + n] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void asserts(const int* x) { assert(x[threadIdx.x] < 5); }

extern "C" __global__ void traps() { if (threadIdx.x == 37) __trap(); }

extern "C" __global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 1; }
