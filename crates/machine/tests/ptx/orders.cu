// Threads that order their accesses by something other than a barrier, and those that only seem to.

#include <cuda_pipeline.h>

// As `grid.sync()` of cooperative_groups.h does it, which NVRTC cannot include on its own.
__device__ void grid_barrier(unsigned* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned more = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        __threadfence();
        unsigned before = atomicAdd(arrived, more);
        while (((before ^ *(volatile unsigned*)arrived) & 0x80000000u) == 0) { }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void last_block(const float* in, float* partial, unsigned* count)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[1 + blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += partial[1 + i];
        partial[0] = sum;
    }
}

// Every thread of the last block reads; everyone fences before the barrier.
extern "C" __global__ void last_block_all(const float* in, float* partial, unsigned* count)
{
    __shared__ bool last;
    partial[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += partial[i];
        __syncthreads();
        partial[threadIdx.x] = sum;
    }
}

extern "C" __global__ void last_block_volatile(const float* in, volatile float* partial, unsigned* count)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[1 + blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += partial[1 + i];
        partial[0] = sum;
    }
}

extern "C" __global__ void last_block_no_producer_fence(const float* in, float* partial, unsigned* count)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[1 + blockIdx.x] = in[blockIdx.x]; // written
        last = atomicAdd(count, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += partial[1 + i]; // read
        partial[0] = sum;
    }
}

extern "C" __global__ void last_block_no_consumer_fence(const float* in, float* partial, unsigned* count)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[1 + blockIdx.x] = in[blockIdx.x]; // written
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += partial[1 + i]; // read
        partial[0] = sum;
    }
}

// Fenced by thread 0 alone, before the others' writes have come to it.
extern "C" __global__ void last_block_one_fences(const float* in, float* partial, unsigned* count)
{
    __shared__ bool last;
    partial[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x]; // written
    if (threadIdx.x == 0) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x - 1;
    __threadfence();
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += partial[i]; // read
        __syncthreads();
        partial[threadIdx.x] = sum;
    }
}

extern "C" __global__ void queue(unsigned* next, float* out, const float* in)
{
    __shared__ unsigned item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1u);
        __syncthreads();
        unsigned mine = item;
        __syncthreads();
        if (mine >= 64) break;
        out[mine * blockDim.x + threadIdx.x] = 2 * in[mine * blockDim.x + threadIdx.x];
    }
}

extern "C" __global__ void queue_missing(unsigned* next, float* out, const float* in)
{
    __shared__ unsigned item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1u); // taken
        __syncthreads();
        unsigned mine = item; // looked at
        if (mine >= 64) break;
        out[mine * blockDim.x + threadIdx.x] = 2 * in[mine * blockDim.x + threadIdx.x];
    }
}

extern "C" __global__ void spin_lock(int* lock, float* sum, const float* in)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
        *sum += in[blockIdx.x];
        __threadfence();
        atomicExch(lock, 0);
    }
}

extern "C" __global__ void spin_lock_missing(int* lock, float* sum, const float* in)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { }
        *sum += in[blockIdx.x]; // unfenced
        atomicExch(lock, 0);
    }
}

// Block 0 makes, block 1 takes.
extern "C" __global__ void flag(volatile int* ready, float* data, float* out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            *ready = 1;
        }
    } else {
        if (threadIdx.x == 0) {
            while (*ready == 0) { }
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

extern "C" __global__ void flag_missing(volatile int* ready, float* data, float* out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x; // made
        __syncthreads();
        if (threadIdx.x == 0) *ready = 1;
    } else {
        if (threadIdx.x == 0) {
            while (*ready == 0) { }
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x]; // taken
    }
}

extern "C" __global__ void flag_narrow(int* ready, float* data, float* out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x; // made
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_block();
            atomicExch(ready, 1);
        }
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(ready, 0) == 0) { }
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x]; // taken
    }
}

extern "C" __global__ void acquire_release(int* ready, float* data, float* out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(ready) : "memory");
    } else {
        if (threadIdx.x == 0) {
            int seen = 0;
            while (seen == 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(ready) : "memory");
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

// Within a block: warp 0 makes, warp 1 takes.
extern "C" __global__ void shared_flag(float* out)
{
    __shared__ float data;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[1];
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (ready == 0) { }
        __threadfence_block();
        out[0] = data;
    }
}

extern "C" __global__ void shared_flag_missing(float* out)
{
    __shared__ float data;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = out[1]; // made
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (ready == 0) { }
        __threadfence_block();
        out[0] = data; // taken
    }
}

extern "C" __global__ void narrow_atomics(int* sum) { atomicAdd_block(sum, 1); }

extern "C" __global__ void own_atomics(int* sum)
{
    atomicAdd_block(sum + blockIdx.x, 1);
}

extern "C" __global__ void mixed(int* sum)
{
    if (threadIdx.x < 32) atomicAdd(sum, 1);
    else sum[0] = 7; // plain
}

extern "C" __global__ void histogram(const int* in, int* bins)
{
    __shared__ int s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[(in[threadIdx.x] + 7 * threadIdx.x) % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

extern "C" __global__ void histogram_missing(const int* in, int* bins)
{
    __shared__ int s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[(in[threadIdx.x] + 7 * threadIdx.x) % 64], 1); // counted
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]); // summed
}

extern "C" __global__ void grid_sync(float* a, float* b, unsigned* arrived)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int step = 0; step < 3; ++step) {
        b[i] = a[n - 1 - i] + 1;
        grid_barrier(arrived);
        a[i] = b[n - 1 - i] + 1;
        grid_barrier(arrived);
    }
}

extern "C" __global__ void grid_sync_missing(float* a, float* b, unsigned* arrived)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    b[i] = a[n - 1 - i] + 1;
    grid_barrier(arrived);
    a[i] = b[n - 1 - i] + 1; // first
    b[i] = a[n - 1 - i] + 1; // second
}

// Named barriers: warps 0 and 1 make, warps 2 and 3 take, a buffer each way.
extern "C" __global__ void named(const float* in, float* out)
{
    __shared__ float s[64];
    int t = threadIdx.x % 64;
    for (int i = 0; i < 4; ++i) {
        if (threadIdx.x < 64) {
            if (i > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
            s[t] = in[64 * i + t];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[64 * i + t] = s[63 - t];
            if (i < 3) asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}

// The makers do not wait for the takers.
extern "C" __global__ void named_missing(const float* in, float* out)
{
    __shared__ float s[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        s[t] = in[t];
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        s[t] = in[64 + t]; // makes
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[t] = s[63 - t]; // takes
    }
}

// A barrier of two warps of four.
extern "C" __global__ void half_block(const float* in, float* out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = s[t ^ 63];
}

extern "C" __global__ void half_block_missing(const float* in, float* out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = s[127 - t]; // the other half
}

// Asynchronous copies.

extern "C" __global__ void copy_own(const float4* in, float4* out)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = s[t];
}

extern "C" __global__ void copy_no_wait(const float4* in, float4* out)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 16); // copied
    __pipeline_commit();
    __syncthreads();
    out[t] = s[t]; // used
}

extern "C" __global__ void copy_shared(const float4* in, float4* out)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = s[63 - t];
}

extern "C" __global__ void copy_no_barrier(const float4* in, float4* out)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 16); // copied
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = s[63 - t]; // used
}

extern "C" __global__ void copy_pipeline(const float4* in, float4* out, const float4* w)
{
    __shared__ float4 s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], 16);
    __pipeline_commit();
    for (int i = 0; i < 8; ++i) {
        if (i + 1 < 8) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[64 * (i + 1) + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[64 * i + t] = s[i % 2][63 - t];
        __syncthreads();
    }
}

extern "C" __global__ void copy_pipeline_wrong_group(const float4* in, float4* out, const float4* w)
{
    __shared__ float4 s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], 16);
    __pipeline_commit();
    for (int i = 0; i < 8; ++i) {
        if (i + 1 < 8) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[64 * (i + 1) + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(2); // one too many
        __syncthreads();
        out[64 * i + t] = s[i % 2][63 - t]; // used
        __syncthreads();
    }
}

extern "C" __global__ void copy_pipeline_no_second_barrier(const float4* in, float4* out, const float4* w)
{
    __shared__ float4 s[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], 16);
    __pipeline_commit();
    for (int i = 0; i < 8; ++i) {
        if (i + 1 < 8) __pipeline_memcpy_async(&s[(i + 1) % 2][t], &in[64 * (i + 1) + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[64 * i + t] = s[i % 2][63 - t];
    }
}
