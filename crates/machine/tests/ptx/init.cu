// Reads of what was never written: kernels named `bad_*` are reported, kernels named `ok_*` are not.

extern "C" __global__ void bad_tail(const float* x, float* out, int n) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    if (i < n) tile[i] = x[i];
    __syncthreads();
    out[i] = tile[i] + 1.0f;  // derived from shared
}

// Lanes past the end compute garbage that nobody uses.
extern "C" __global__ void ok_tail(const float* x, float* out, int n) {
    __shared__ float tile[64];
    __shared__ float twice[64];
    int i = threadIdx.x;
    if (i < n) tile[i] = x[i];
    __syncthreads();
    twice[i] = 2.5f * tile[i] + 1.0f;
    __syncthreads();
    if (i < n) out[i] = twice[i];
}

extern "C" __global__ void bad_through_shared(const float* x, float* out, int n) {
    __shared__ float tile[64];
    __shared__ float twice[64];
    int i = threadIdx.x;
    if (i < n) tile[i] = x[i];  // the tail is missing
    __syncthreads();
    twice[i] = 2.5f * tile[i] + 1.0f;  // computed here
    __syncthreads();
    out[i] = twice[63 - i];  // stored here
}

extern "C" __global__ void bad_copied_tile(const float* x, float* out, int n) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    if (i < n) tile[i] = x[i];
    __syncthreads();
    out[i] = tile[63 - i];  // a tile's hole is copied out
}

extern "C" __global__ void bad_reduction(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];  // past what was filled
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) out[blockIdx.x] = v;  // the sum
}

extern "C" __global__ void ok_reduction(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}

// A masked-out select: what was read past the end is thrown away.
extern "C" __global__ void ok_select(const float* x, float* out, int n) {
    int i = threadIdx.x;
    float v = x[i];
    out[i] = i < n ? v * 2.0f : 0.0f;
}

extern "C" __global__ void bad_branch(const int* flags, int* out) {
    int i = threadIdx.x;
    if (flags[i] > 3) {  // decided by what was never written
        atomicAdd(out, 1);
        __threadfence();
        atomicAdd(out + 1, i);
    }
}

extern "C" __global__ void bad_address(const int* index, const float* x, float* out) {
    int i = threadIdx.x;
    out[i] = x[index[i]];  // where to read is unknown
}

// A copy of what was never written is as if never written.
extern "C" __global__ void ok_copy(const float4* x, float4* out) {
    int i = threadIdx.x;
    out[i] = x[i];
}

extern "C" __global__ void bad_accumulate(const float* x, float* sum) {
    atomicAdd(sum, x[threadIdx.x]);  // sum was never set
}

extern "C" __global__ void ok_exchange(int* lock, int* out) {
    atomicExch(lock, 1);
    if (threadIdx.x == 0) out[0] = lock[0] + 1;
}

extern "C" __global__ void bad_histogram(const int* x, int* out) {
    __shared__ int counts[32];
    atomicAdd(&counts[x[threadIdx.x] & 31], 1);  // counts was never set to zero
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = counts[threadIdx.x];
}

// The compiler leaves v's register unset where the condition is false, and nobody looks at it there.
extern "C" __global__ void ok_phi(const float* x, float* y, int n) {
    int i = threadIdx.x;
    float v;
    if (i < n) v = x[i];
    __syncthreads();
    if (i < n) y[i] = v + 1.0f;
}

__device__ __noinline__ float first(const float* a, int n) {
    float s = 0.0f;
    for (int i = 0; i < n; ++i) s += a[i];
    return s;
}

extern "C" __global__ void bad_local(const float* x, float* out, int n, int m) {
    float a[8];
    for (int i = 0; i < n; ++i) a[i] = x[i];
    out[threadIdx.x] = first(a, m);  // m elements of n
}

extern "C" __global__ void ok_local(const float* x, float* out, int n) {
    float a[8];
    for (int i = 0; i < n; ++i) a[i] = x[i];
    out[threadIdx.x] = first(a, n);
}

struct Pair {
    char tag;
    int value;
};

// Holes in a struct are nobody's mistake.
extern "C" __global__ void ok_padding(const int* x, Pair* out, Pair* other) {
    __shared__ Pair pairs[32];
    int i = threadIdx.x;
    pairs[i].tag = 1;
    pairs[i].value = x[i];
    __syncthreads();
    out[i] = pairs[31 - i];
    other[i] = out[i];
}

// One half of a word is written, and only that one is used.
extern "C" __global__ void ok_halves(const unsigned short* x, unsigned short* out) {
    __shared__ __align__(4) unsigned short halves[64];
    int i = threadIdx.x;
    halves[2 * i] = x[i];
    __syncthreads();
    unsigned both = reinterpret_cast<const unsigned*>(halves)[i];
    out[i] = static_cast<unsigned short>(both & 0xffffu) + 1;
}

extern "C" __global__ void bad_halves(const unsigned short* x, unsigned short* out) {
    __shared__ __align__(4) unsigned short halves[64];
    int i = threadIdx.x;
    halves[2 * i] = x[i];
    __syncthreads();
    unsigned both = reinterpret_cast<const unsigned*>(halves)[i];
    out[i] = static_cast<unsigned short>(both >> 16) + 1;  // the other half
}

// A vector of which one element was never written, and that one is not used.
extern "C" __global__ void ok_vector(const float4* x, float* out) {
    int i = threadIdx.x;
    float4 v = x[i];
    out[i] = v.x + v.y + v.z;
}

extern "C" __global__ void ok_masked(const int* x, int* out) {
    int i = threadIdx.x;
    int v = x[i];
    out[i] = (v & 0) + (v * 0) + i;
}

extern "C" int printf(const char*, ...);

extern "C" __global__ void bad_print(const int* x) {
    if (threadIdx.x == 0) printf("%d %d\n", 7, x[0]);  // prints it
}

extern "C" __global__ void ok_print(const int* x, double y) {
    if (threadIdx.x == 0) printf("%d %f %d\n", 7, y, threadIdx.x);
}

// A dynamic part of shared memory that a loop fills and reads by turns.
extern "C" __global__ void ok_double_buffer(const float* x, float* out, int n) {
    __shared__ float stage[2][32];
    int i = threadIdx.x;
    float sum = 0.0f;
    stage[0][i] = x[i];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        if (k + 1 < n) stage[(k + 1) & 1][i] = x[32 * (k + 1) + i];
        sum += stage[k & 1][31 - i];
    }
    out[i] = sum;
}

extern "C" __global__ void bad_double_buffer(const float* x, float* out, int n) {
    __shared__ float stage[2][32];
    int i = threadIdx.x;
    float sum = 0.0f;
    stage[0][i] = x[i];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        if (k + 1 < n) stage[(k + 1) & 1][i] = x[32 * (k + 1) + i];
        sum += stage[(k + 1) & 1][31 - i];  // the stage that is being filled
        __syncthreads();
    }
    out[i] = sum;  // the sum of it
}

extern "C" __global__ void ok_vote(const int* x, int* out, int n) {
    int i = threadIdx.x;
    int v = x[i];
    unsigned m = __ballot_sync(0xffffffffu, v > 0);
    if (i < n) out[i] = (m >> i & 1) + 1;
}

extern "C" __global__ void bad_vote(const int* x, int* out) {
    int i = threadIdx.x;
    if (__any_sync(0xffffffffu, x[i] > 0)) out[i] = 1;  // any of them
}

__device__ int total;
__device__ int table[4] = {1, 2};

extern "C" __global__ void ok_variables(int* out) {
    out[threadIdx.x] = total + table[3] + 1;
}

extern "C" __global__ void set_all(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0f;
}

extern "C" __global__ void add_one(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + 1.0f;  // x plus one
}
