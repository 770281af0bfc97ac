// Kernels that the machine's tests run: each does one thing that a simple elementwise kernel does not.

// Sum of each block: shared memory, barriers, shuffles.
extern "C" __global__ void block_sum(const float* x, float* out, int n)
{
    __shared__ float partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

// A tree in dynamic shared memory.
extern "C" __global__ void tree_sum(const int* x, int* out)
{
    extern __shared__ int tile[];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * blockDim.x + t];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}

// Steps of the Collatz sequence: every lane leaves the loop at its own time.
extern "C" __global__ void collatz(const unsigned* x, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    int steps = 0;
    while (v > 1) {
        if (v & 1) v = 3 * v + 1; else v /= 2;
        ++steps;
    }
    out[i] = steps;
}

extern "C" __global__ void histogram(const int* x, int* bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[x[i]], 1);
}

// Every thread takes the lock, the lanes of a warp too.
extern "C" __global__ void locked_count(int* lock, int* count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int*)count = *(volatile int*)count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// What cooperative groups do for a grid: the last block to arrive turns the gate's highest bit.
__device__ void grid_barrier(volatile unsigned* gate)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
        __threadfence();
        unsigned old = atomicAdd((unsigned*)gate, add);
        while (((old ^ *gate) & 0x80000000u) == 0) { }
        __threadfence();
    }
    __syncthreads();
}

// Every block waits for every other, twice.
extern "C" __global__ void grid_sum(const int* x, int* partial, int* out, unsigned* gate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) partial[blockIdx.x] = 0;
    grid_barrier(gate);
    atomicAdd(&partial[(blockIdx.x + 1) % gridDim.x], x[i]);
    grid_barrier(gate);
    if (i == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
        *out = sum;
    }
}

// Each block waits for the one before it.
extern "C" __global__ void look_back(const int* x, volatile int* prefix, volatile int* ready)
{
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0) { }
            __threadfence();
            before = prefix[blockIdx.x - 1];
        }
        prefix[blockIdx.x] = before + x[blockIdx.x];
        __threadfence();
        ready[blockIdx.x] = 1;
    }
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recurse(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

__device__ __noinline__ int endless(volatile int* stop, int n)
{
    return *stop == n ? 0 : endless(stop, n + 1) ^ endless(stop, n + 2);
}

extern "C" __global__ void overflow(int* out) { out[0] = endless(out, 1); }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
typedef int (*Function)(int);
__device__ Function table[3] = { twice, square, negate };

extern "C" __global__ void indirect(int* out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }

// A local array that is indexed at run time.
extern "C" __global__ void local_array(int* out, int shift)
{
    int a[16];
    for (int i = 0; i < 16; ++i) a[i] = i * i + threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += a[(i * shift + threadIdx.x) % 16] * i;
    out[threadIdx.x] = sum;
}

struct Weights { float w[8]; };
__constant__ float scale[4] = { 1.0f, 2.0f, 4.0f, 8.0f };

extern "C" __global__ void weighted(float* out, const __grid_constant__ Weights weights)
{
    int t = threadIdx.x;
    out[t] = weights.w[t % 8] * scale[t % 4];
}

extern "C" __global__ void select_case(const int* x, int* out)
{
    int i = threadIdx.x, r;
    switch (x[i]) {
        case 0: r = 10; break;
        case 1: r = i * 3; break;
        case 2: r = i - 7; break;
        case 3: r = i ^ 21; break;
        case 4: r = i << 2; break;
        case 5: r = 99; break;
        case 6: r = i * i; break;
        default: r = -1;
    }
    out[i] = r;
}

extern "C" __global__ void votes(const int* x, unsigned* out)
{
    int t = threadIdx.x, v = x[t];
    unsigned odd = __ballot_sync(0xffffffffu, v & 1);
    unsigned same = __match_any_sync(0xffffffffu, v % 4);
    unsigned sum = __reduce_add_sync(0xffffffffu, v);
    unsigned any = __any_sync(0xffffffffu, v == 7), all = __all_sync(0xffffffffu, v < 1000);
    out[t] = odd ^ (same * 3) ^ (sum * 5) ^ (any << 1) ^ (all << 2);
}

// Each half of a warp shuffles by itself.
extern "C" __global__ void halves(int* out)
{
    int t = threadIdx.x;
    if (t % 32 < 16) out[t] = __shfl_xor_sync(0x0000ffffu, t, 1);
    else out[t] = __shfl_xor_sync(0xffff0000u, t, 2);
}

extern "C" __global__ void hello(float x)
{
    if (threadIdx.x < 2)
        printf("block %d thread %u: %5.2f|%-6s|%08x|%lld|%c|%e|%%\n", blockIdx.x, threadIdx.x, x, "ab", 48879u,
               -5000000000ll, 'z', 12345.678);
}

// Aggregated by warp: the mask is who is there.
extern "C" __global__ void aggregated(const int* x, int* count)
{
    if (x[threadIdx.x] > 10) {
        unsigned here = __activemask();
        int leader = __ffs(here) - 1, lane = threadIdx.x % 32;
        int base = 0;
        if (lane == leader) base = atomicAdd(count, __popc(here));
        base = __shfl_sync(here, base, leader);
        if (base < 0) count[1] = 1;
    }
}

extern "C" __global__ void quantize(const float* x, signed char* q, float s, float zero, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) q[i] = (signed char)fminf(fmaxf(rintf(x[i] / s + zero), -128.0f), 127.0f);
}

extern "C" __global__ void vectors(const float4* a, float4* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = a[i];
    out[i] = make_float4(v.w, v.z, v.y, v.x);
}

extern "C" __global__ void transposed(const float* a, float* out)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void async_copy(const int* a, int* out)
{
    __shared__ alignas(16) int tile[256];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[4 * t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;"
                 :: "r"(to), "l"(a + 4 * t));
    __syncthreads();
    out[t] = tile[255 - t];
}

// A generic pointer that is shared in some lanes and global in others.
extern "C" __global__ void mixed(int* a, int* out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = 100 + t;
    __syncwarp();
    int* p = t & 1 ? &tile[t] : &a[t];
    asm volatile("" : "+l"(p));
    out[t] = *p;
    *p = -t;
    __syncwarp();
    if (t & 1) a[t] = tile[t];
}
