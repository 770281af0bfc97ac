// Kernels that are right and slow, each beside a near miss that is not worth a word.

// P-UNCOALESCED
extern "C" __global__ void column(const float* x, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[(i % n) * n + i / n];  // column by column
}

extern "C" __global__ void gather(const float* x, const int* index, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[index[i]];
}

extern "C" __global__ void shifted(const float* x, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i + 1];
}

extern "C" __global__ void broadcast(const float* x, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[blockIdx.x] + x[threadIdx.x / 32];
}

// P-BANK-CONFLICT
extern "C" __global__ void tile_column(const float* a, float* out)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];  // a column
}

extern "C" __global__ void tile_padded(const float* a, float* out)
{
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = a[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void pairs(const float* a, float* out)
{
    __shared__ float tile[2048];
    int t = threadIdx.x;
    tile[t] = a[t];
    tile[t + 1024] = a[t + 1024];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += tile[(2 * t + 64 * k) % 2048];  // every second word
    out[t] = sum;
}

extern "C" __global__ void words_shared(const float* a, float* out)
{
    __shared__ float4 tile[256];
    int t = threadIdx.x;
    tile[t] = ((const float4*)a)[t];
    __syncthreads();
    ((float4*)out)[t] = tile[t ^ 1];
}

// P-SCALAR-ACCESS
extern "C" __global__ void scale(const float* x, float* out, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = s * x[i];  // one element per thread
}

extern "C" __global__ void scale4(const float4* x, float4* out, float s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    out[i] = make_float4(s * v.x, s * v.y, s * v.z, s * v.w);
}

extern "C" __global__ void neighbours(const float* x, float* out, float s, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];  // four loads of one thread
    ((float4*)out)[i / 4] = make_float4(s * a, s * b, s * c, s * d);
}

extern "C" __global__ void eight_streams(const float* x, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sum += x[k * n + i];
    out[i] = sum;
}

// P-LOCAL-MEMORY
extern "C" __global__ void histogram(const int* x, int* out, int n)
{
    int bins[16];
    for (int k = 0; k < 16; k++) bins[k] = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++) bins[x[k * gridDim.x * blockDim.x + i] & 15]++;  // indexed at run time
    int best = 0;
    for (int k = 0; k < 16; k++) best = max(best, bins[k]);
    out[i] = best;
}

extern "C" __global__ void unrolled(const int* x, int* out)
{
    int bins[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 16; k++) bins[k] = x[k * gridDim.x * blockDim.x + i];
    int best = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) best = max(best, bins[k]);
    out[i] = best;
}

// P-DIVERGENT
__device__ __noinline__ float slow(float x, int n)
{
    for (int k = 0; k < n; k++) x = x * 1.0009765625f + 0.5f;
    return x;
}

extern "C" __global__ void odd_and_even(float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x & 1) out[i] = slow(i, n);  // every second thread
}

extern "C" __global__ void by_warp(float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x & 32) out[i] = slow(i, n);
}

extern "C" __global__ void tail(float* out, int n, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) out[i] = slow(i, n);
}

extern "C" __global__ void triangle(float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int k = 0; k < threadIdx.x % 32 * 8; k++) x = x * 1.0009765625f + 0.5f;  // as often as the lane says
    out[i] = x;
}

// P-ROUND-TRIP
extern "C" __global__ void add(const float* x, const float* y, float* tmp, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tmp[i] = x[i] + y[i];  // out to memory
}

extern "C" __global__ void relu(const float* tmp, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaxf(tmp[i], 0.0f);  // and back
}

extern "C" __global__ void partial(const float* x, float* sums)
{
    float sum = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
